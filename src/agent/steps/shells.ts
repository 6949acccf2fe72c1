import type { Shell } from "../../domain/plan/plan.ts";

/** PowerShell by itself continues after an error, and exits with 0 when the last program failed. */
const strictCommand = (script: string): string =>
  `$ErrorActionPreference = 'Stop'; . '${script.replaceAll("'", "''")}'; ` +
  "if (Test-Path -LiteralPath variable:LASTEXITCODE) { exit $LASTEXITCODE }";

/** Command line for a script in each shell. Shells that can, stop at the first failed command or pipe. */
export const SHELL_COMMANDS: Record<Shell, { extension: string; argv: (script: string) => [string, ...string[]] }> = {
  bash: { extension: "sh", argv: (script) => ["bash", "--noprofile", "--norc", "-eo", "pipefail", script] },
  sh: { extension: "sh", argv: (script) => ["sh", "-e", script] },
  pwsh: {
    extension: "ps1",
    argv: (script) => ["pwsh", "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", strictCommand(script)],
  },
  python: { extension: "py", argv: (script) => ["python3", script] },
  node: { extension: "js", argv: (script) => ["node", script] },
};
