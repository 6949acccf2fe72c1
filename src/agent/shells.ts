import type { Shell } from "../domain/plan/plan.ts";

/** How a script of each shell is run; what comes after a failed command or pipe is not run where the shell can tell. */
export const SHELL_COMMANDS: Record<Shell, { extension: string; argv: (script: string) => [string, ...string[]] }> = {
  bash: { extension: "sh", argv: (script) => ["bash", "--noprofile", "--norc", "-eo", "pipefail", script] },
  sh: { extension: "sh", argv: (script) => ["sh", "-e", script] },
  pwsh: {
    extension: "ps1",
    argv: (script) => ["pwsh", "-NoLogo", "-NoProfile", "-NonInteractive", "-File", script],
  },
  python: { extension: "py", argv: (script) => ["python3", script] },
  node: { extension: "js", argv: (script) => ["node", script] },
};
