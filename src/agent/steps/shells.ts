import type { Shell } from "../../domain/plan/plan.ts";

/** PowerShell by itself goes on after an error, and calls a script good whose last program failed. */
const strictly = (script: string): string =>
  `$ErrorActionPreference = 'Stop'; . '${script.replaceAll("'", "''")}'; ` +
  "if (Test-Path -LiteralPath variable:LASTEXITCODE) { exit $LASTEXITCODE }";

/** How a script of each shell is run; what comes after a failed command or pipe is not run where the shell can tell. */
export const SHELL_COMMANDS: Record<Shell, { extension: string; argv: (script: string) => [string, ...string[]] }> = {
  bash: { extension: "sh", argv: (script) => ["bash", "--noprofile", "--norc", "-eo", "pipefail", script] },
  sh: { extension: "sh", argv: (script) => ["sh", "-e", script] },
  pwsh: {
    extension: "ps1",
    argv: (script) => ["pwsh", "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", strictly(script)],
  },
  python: { extension: "py", argv: (script) => ["python3", script] },
  node: { extension: "js", argv: (script) => ["node", script] },
};
