import { type CommandResult, runShell } from "./as-user.ts";
import type { StepUser } from "./step-user.ts";

/**
 * `set -C` opens with O_EXCL, which follows no link (POSIX, open). The folder is new as well: whatever stands at its
 * place is left alone.
 */
const WRITE_SCRIPT = 'umask 077; set -C; mkdir -- "$1" && cat > "$1/$2"';

/**
 * Makes a folder (0700) with one file (0600) by a process of the user, or of the agent's without one. The bytes are in
 * no argument and no environment. Never rejects.
 */
export const writeInNewFolder = (
  user: StepUser | null,
  folder: string,
  name: string,
  bytes: Uint8Array,
): Promise<CommandResult> => runShell(user, WRITE_SCRIPT, [folder, name], bytes);
