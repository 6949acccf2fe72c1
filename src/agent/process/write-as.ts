import { spawn } from "node:child_process";
import { type CommandResult, runAs } from "./as-user.ts";
import type { StepUser } from "./step-user.ts";

/**
 * `set -C` opens with O_EXCL, which follows no link (POSIX, open). The folder is new as well: whatever stands at its
 * place is left alone.
 */
const WRITE_SCRIPT = 'umask 077; set -C; mkdir -- "$1" && cat > "$1/$2"';

const STDERR_LIMIT = 1000;

/**
 * Makes a folder (0700) with one file (0600) by a process of the user, or of the agent's without one. The bytes are in
 * no argument and no environment. Never rejects.
 */
export const writeInNewFolder = (
  user: StepUser | null,
  folder: string,
  name: string,
  bytes: Uint8Array,
): Promise<CommandResult> =>
  new Promise((resolve) => {
    const child = spawn("/bin/sh", ["-c", WRITE_SCRIPT, "sh", folder, name], {
      cwd: "/",
      env: { PATH: process.env.PATH, LC_ALL: "C" },
      stdio: ["pipe", "ignore", "pipe"],
      ...runAs(user),
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr = `${stderr}${text}`.slice(0, STDERR_LIMIT);
    });
    child.on("error", ({ message }) => resolve({ code: null, stderr: message }));
    child.on("close", (code) => resolve({ code, stderr }));
    // A process that ended without reading is told by its exit code.
    child.stdin.on("error", () => {});
    child.stdin.end(bytes);
  });
