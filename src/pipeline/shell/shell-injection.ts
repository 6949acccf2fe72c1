import { REFUSED } from "./quoting.ts";

/** A program that runs text as code: the option for it, and whether it reads code from its input without the option. */
interface Interpreter {
  name: RegExp;
  option: RegExp;
  readsInput: boolean;
}

const INTERPRETERS: Interpreter[] = [
  { name: /^(?:ba|da|z|k|a|mk|c|tc|fi)?sh$/, option: /^-[a-zA-Z]*c$/, readsInput: true },
  { name: /^(?:su|runuser|sg)$/, option: /^(?:-[a-zA-Z]*c|--command)$/, readsInput: true },
  { name: /^(?:python|pypy)[0-9.]*$/, option: /^-[a-zA-Z]*c$/, readsInput: true },
  { name: /^(?:node|nodejs|bun|deno)$/, option: /^(?:-[a-zA-Z]*[ep]|--eval|--print|eval)$/, readsInput: true },
  { name: /^(?:perl|ruby|lua|osascript)[0-9.]*$/, option: /^-[a-zA-Z0-9]*[eE]$/, readsInput: true },
  { name: /^php[0-9.]*$/, option: /^-r$/, readsInput: true },
  { name: /^(?:pwsh|powershell)$/, option: /^-(?:c|command)$/i, readsInput: true },
  { name: /^env$/, option: /^(?:-[a-zA-Z0-9]*S|--split-string)$/, readsInput: false },
  { name: /^g?sed$/, option: /^(?:-[a-zA-Z]*e|--expression)$/, readsInput: false },
];

/**
 * Programs whose first plain argument is code, unless an option in `brings` provides the code. Options in `takes` have
 * an argument.
 */
const FIRST_ARGUMENT: { name: RegExp; takes: RegExp; brings: RegExp }[] = [
  { name: /^g?sed$/, takes: /^(?:-[a-zA-Z]*[efl]|--file)$/, brings: /^(?:-[a-zA-Z]*[ef]|--expression.*|--file.*)$/ },
  { name: /^[gmn]?awk$/, takes: /^-[fFv]$/, brings: /^(?:-f|--file.*)$/ },
];

const SSH_TAKES = /^-[BbcDEeFIiJLlmOoPpQRSWw]$/;
const SHELL_TAKES = /^[-+][oOWX]$/;
const PREFIXES = new Set(["command", "builtin", "exec", "sudo", "env", "time", "nohup", "nice", "!"]);
const DECLARING = /^(?:declare|typeset|local|readonly|export)$/;
const RUN_BY_SHELL = /^(?:PS[0-4]|PROMPT_COMMAND|BASH_ENV|ENV)\+?=/;
const NAMING = /^(?:unset|read|mapfile|readarray|getopts)$/;

const base = (word: string): string => word.slice(word.lastIndexOf("/") + 1);

/** Returns a command's program and arguments, without assignments and prefixes such as `sudo`. */
const fromProgram = (words: string[]): string[] => {
  const isBefore = (word: string) => /^[A-Za-z_]\w*\+?=/.test(word) || PREFIXES.has(word) || word.startsWith("-");
  const index = words.findIndex((word) => !isBefore(word));
  return index < 0 ? [] : words.slice(index);
};

const plainArguments = (args: string[], takes: RegExp): string[] =>
  args.filter((word, index) => !/^[-+]./.test(word) && !takes.test(args[index - 1] ?? ""));

/** Reports whether an interpreter in `words` runs the next word as code. */
const isCode = (words: string[]): boolean =>
  /^(?:-|eval$)/.test(words.at(-1) ?? "") &&
  words.some((word, index) => {
    const interpreter = INTERPRETERS.find(({ name }) => name.test(base(word)));
    const args = words.slice(index + 1);
    return (
      interpreter?.option.test(args.at(-1) ?? "") &&
      plainArguments(args, SHELL_TAKES).every((one) => one === args.at(-1))
    );
  });

const isFirstArgument = (program: string, args: string[]): boolean =>
  FIRST_ARGUMENT.some(
    ({ name, takes, brings }) =>
      name.test(program) &&
      !args.some((word) => brings.test(word)) &&
      !takes.test(args.at(-1) ?? "") &&
      plainArguments(args, takes).length === 0,
  );

const inBuiltin = (builtin: string, args: string[], current: string): string | null => {
  if (builtin === "eval" || builtin === "trap" || builtin === "let" || builtin === "alias") return REFUSED.code;
  if (DECLARING.test(builtin)) {
    if (args.some((word) => /^-[a-zA-Z]*[in]/.test(word))) return REFUSED.arithmetic;
    return current.includes("=") ? null : REFUSED.name;
  }
  const last = args.at(-1) ?? "";
  const isName =
    NAMING.test(builtin) ||
    (builtin === "printf" && last === "-v") ||
    (builtin === "wait" && last === "-p") ||
    (/^(?:test|\[)$/.test(builtin) && /^-[vR]$/.test(last));
  return isName ? REFUSED.name : null;
};

/**
 * Returns why a reference is not allowed in a simple command, after `words` and the part `current` of a word. The
 * reason is that the command would run the reference's value as code. Returns null if the reference is allowed.
 */
export const injectionRisk = (words: string[], current: string): string | null => {
  if (RUN_BY_SHELL.test(current)) return REFUSED.code;
  const [program = "", ...args] = fromProgram(words);
  const isRemote = program === "ssh" && plainArguments(args, SSH_TAKES).length > 0;
  if (isRemote || isCode(words) || isFirstArgument(base(program), args)) return REFUSED.code;
  return inBuiltin(program, args, current);
};

/** Reports whether a command runs its standard input as code. */
export const readsProgram = (words: string[]): boolean => {
  const [program = "", ...args] = fromProgram(words);
  if (program === "source" || program === ".") return true;
  if (program === "ssh") return plainArguments(args, SSH_TAKES).length <= 1;
  if (/^(?:xargs|parallel)$/.test(program))
    return words.some((word) => INTERPRETERS.some(({ name }) => name.test(base(word))));
  return words.some((word, index) => {
    const interpreter = INTERPRETERS.find(({ name }) => name.test(base(word)));
    if (!interpreter?.readsInput) return false;
    const rest = words.slice(index + 1);
    if (rest.some((one) => interpreter.option.test(one))) return false;
    return rest.includes("-s") || rest.includes("-") || plainArguments(rest, SHELL_TAKES).length === 0;
  });
};

/** Reports whether `[[ ]]` with these words evaluates its operands as numbers or names. */
export const isArithmeticTest = (words: string[]): boolean =>
  words.some((word) => /^-(?:eq|ne|lt|le|gt|ge|v|R)$/.test(word));
