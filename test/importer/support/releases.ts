import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/* Releases of tools that exist in these tests. A program of one prints its name, its version and its arguments, with its folder as `.`. */

/** All releases by tool, the oldest first. */
export const RELEASES: Record<string, string[]> = {
  node: ["18.20.8", "20.19.5", "22.4.1", "22.21.0", "24.11.0"],
  go: ["1.22.12", "1.24.2", "1.24.9", "1.25.3"],
  python: ["3.10.19", "3.12.12", "3.13.9"],
  ruby: ["3.3.9", "3.4.1", "3.4.7"],
  rust: ["1.91.1", "stable"],
  php: ["8.3.27", "8.4.14"],
  "golangci-lint": ["2.4.0", "2.6.1"],
};

/** A tool's programs, if it has more than the one with its name. */
const PROGRAMS: Record<string, string[]> = {
  python: ["python", "pip"],
  ruby: ["ruby", "bundle"],
  rust: ["rustc", "rustup"],
  php: ["php", "composer"],
};

/** Writes a release's programs into a folder. */
export const installRelease = (folder: string, tool: string, version: string): void => {
  mkdirSync(folder, { recursive: true });
  for (const program of PROGRAMS[tool] ?? [tool])
    writeFileSync(join(folder, program), `#!/bin/sh\necho "> ${program} ${version} $*" | sed "s,$PWD,.,"\n`, {
      mode: 0o755,
    });
};

/** Returns mise's versions for which a release is the newest: its prefixes, `latest`, and `lts` of Node. */
const versionsFor = (tool: string, release: string): string[] => {
  const parts = release.split(".");
  const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join("."));
  const isNewest = (version: string) =>
    RELEASES[tool]!.findLast(
      (one) => version === "latest" || version === "lts" || `${one}.`.startsWith(`${version}.`),
    ) === release;
  return [...prefixes, "latest", "lts"].filter(isNewest);
};

/**
 * Writes a program with mise's commands that the agent uses. It copies the releases above instead of downloading
 * anything.
 */
export const writeMise = (folder: string): string => {
  const table: string[] = [];
  for (const [tool, releases] of Object.entries(RELEASES))
    for (const release of releases) {
      installRelease(join(folder, tool, release, "bin"), tool, release);
      table.push(...versionsFor(tool, release).map((version) => `${tool} ${version} ${release}\n`));
    }
  writeFileSync(join(folder, "table"), table.join(""));
  const file = join(folder, "mise");
  const program = `#!/bin/sh
each() {
  sed -n 's/^"\\(.*\\)" = "\\(.*\\)"$/\\1 \\2/p' mise.toml | while read -r tool wanted; do
    release=$(sed -n "s/^$tool $wanted //p" "${folder}/table")
    "$1" "$tool" "$release"
  done
}
install() {
  mkdir -p "$MISE_DATA_DIR/$1"
  cp -R "${folder}/$1/$2" "$MISE_DATA_DIR/$1/"
}
list() {
  [ ! -d "$MISE_DATA_DIR/$1/$2" ] || printf '"%s": [{ "version": "%s", "installed": true }]\\n' "$1" "$2"
}
path() { echo "$MISE_DATA_DIR/$1/$2/bin"; }
case "$1" in
  --version) echo "2999.1.0 linux-x64" ;;
  install) each install ;;
  ls) printf '{ %s }' "$(each list | paste -s -d , -)" ;;
  env) printf '{ "PATH": "%s" }' "$(each path | paste -s -d : -)" ;;
esac
`;
  writeFileSync(file, program, { mode: 0o755 });
  return file;
};
