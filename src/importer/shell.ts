import { NoEqual } from "./marks.ts";

/* The shells of GitHub. Where it runs a script otherwise than the shell here does, the script begins with what differs. */

interface TranslatedShell {
  /** Undefined for bash, which is what runs where nothing is said. */
  shell: "sh" | "pwsh" | "python" | undefined;
  /** A line that the script begins with; empty where none is needed. */
  prelude: string;
}

const bash = (prelude = ""): TranslatedShell => ({ shell: undefined, prelude });

/** A `|` between two commands: whether its status counts is told by `pipefail`. */
const hasPipe = (script: string): boolean => /(?<![|>])\|(?![|])/.test(script);

/** `bash -e {0}` and the like: the options that are on here, and are not there, are taken back. */
const ownBash = (written: string, script: string): TranslatedShell => {
  const words = written.trim().split(/\s+/);
  if (words[0] !== "bash" || words.at(-1) !== "{0}") throw new NoEqual(`\`shell: ${written}\``, "shell");
  const on = new Set<string>();
  for (let index = 1; index < words.length - 1; index++) {
    const word = words[index]!;
    if (word === "--noprofile" || word === "--norc") continue;
    if (!/^-[euxo]+$/.test(word)) throw new NoEqual(`\`shell: ${written}\``, "shell");
    for (const letter of word.slice(1)) {
      if (letter !== "o") on.add(letter);
      else if (words[++index] === "pipefail") on.add("pipefail");
      else throw new NoEqual(`\`shell: ${written}\``, "shell");
    }
  }
  const changes = [
    ...(on.has("e") ? [] : ["+e"]),
    ...(on.has("pipefail") || !hasPipe(script) ? [] : ["+o pipefail"]),
    ...(on.has("u") ? ["-u"] : []),
    ...(on.has("x") ? ["-x"] : []),
  ];
  return bash(changes.length > 0 ? `set ${changes.join(" ")}` : "");
};

/** The shell for a script; `written` is undefined where the workflow names none. @throws {NoEqual} */
export const shellOf = (written: string | undefined, script: string): TranslatedShell => {
  switch (written) {
    case undefined:
      // Where no shell is named, GitHub runs `bash -e`.
      return bash(hasPipe(script) ? "set +o pipefail" : "");
    case "bash":
      return bash();
    case "sh":
    case "pwsh":
    case "python":
      return { shell: written, prelude: "" };
    default:
      return ownBash(written, script);
  }
};
