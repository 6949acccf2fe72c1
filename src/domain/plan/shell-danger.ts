import { REFUSED } from "./quoting.ts";

/** Programs that run a part of their arguments or input as code, and the options that take it. */
const INTERPRETERS: [name: RegExp, option: RegExp][] = [
  [/^(?:ba|da|z|k|a|mk|c|tc|fi)?sh$/, /^-[a-zA-Z]*c$/],
  [/^(?:su|runuser|sg)$/, /^(?:-[a-zA-Z]*c|--command)$/],
  [/^(?:python|pypy)[0-9.]*$/, /^-[a-zA-Z]*c$/],
  [/^(?:node|nodejs|bun|deno)$/, /^(?:-[a-zA-Z]*[ep]|--eval|--print|eval)$/],
  [/^(?:perl|ruby|lua|osascript)[0-9.]*$/, /^-[a-zA-Z0-9]*[eE]$/],
  [/^php[0-9.]*$/, /^-r$/],
  [/^(?:pwsh|powershell)$/, /^-(?:c|command)$/i],
  [/^(?:sed|gsed)$/, /^(?:-[a-zA-Z]*e|--expression)$/],
  [/^(?:xargs|parallel|watch)$/, /^never$/],
];

/** Programs whose first argument that is no option is code; the options listed take an argument of their own. */
const FIRST_ARGUMENT: [name: RegExp, withArgument: RegExp, code: RegExp][] = [
  [
    /^(?:sed|gsed)$/,
    /^(?:-e|--expression|-f|--file|-l|--line-length)$/,
    /^(?:-[a-zA-Z]*[ef]|--expression.*|--file.*)$/,
  ],
  [/^[gm]?awk$/, /^-[fFv]$/, /^(?:-f|--file.*)$/],
];

const SSH_OPTION = /^-[BbcDEeFIiJLlmOoPpQRSWw]$/;

const base = (word: string): string => word.slice(word.lastIndexOf("/") + 1);

const isAssignment = (word: string): boolean => /^[A-Za-z_]\w*\+?=/.test(word);
const PREFIXES = new Set([
  "command",
  "builtin",
  "exec",
  "sudo",
  "env",
  "time",
  "nohup",
  "nice",
  "!",
  "then",
  "do",
  "else",
]);

/** Index of the word that names the command, past assignments and words like `sudo`. */
const commandIndex = (words: string[]): number =>
  words.findIndex((word) => !isAssignment(word) && !PREFIXES.has(word) && !word.startsWith("-"));

const DECLARING = /^(?:declare|typeset|local|readonly|export)$/;
const NAMING = /^(?:unset|read|mapfile|readarray|getopts)$/;

const inBuiltin = (command: string, args: string[], current: string): string | null => {
  if (command === "eval" || command === "trap" || command === "let") return REFUSED.code;
  if (DECLARING.test(command)) {
    if (args.some((word) => /^-[a-zA-Z]*[in]/.test(word))) return REFUSED.arithmetic;
    return current.includes("=") ? null : REFUSED.name;
  }
  if (NAMING.test(command)) return REFUSED.name;
  if (command === "printf" && args.at(-1) === "-v") return REFUSED.name;
  if ((command === "test" || command === "[") && /^-[vR]$/.test(args.at(-1) ?? "")) return REFUSED.name;
  if (command === "wait" && args.at(-1) === "-p") return REFUSED.name;
  return null;
};

const isCodeOf = (words: string[]): boolean => {
  const last = words.at(-1) ?? "";
  return words.some((word) => INTERPRETERS.some(([name, option]) => name.test(base(word)) && option.test(last)));
};

const isFirstArgument = (command: string, args: string[]): boolean =>
  FIRST_ARGUMENT.some(([name, withArgument, code]) => {
    if (!name.test(command) || args.some((word) => code.test(word))) return false;
    const plain = args.filter((word, index) => !word.startsWith("-") && !withArgument.test(args[index - 1] ?? ""));
    return plain.length === 0 && !withArgument.test(args.at(-1) ?? "");
  });

const isRemote = (command: string, args: string[]): boolean =>
  command === "ssh" && args.some((word, index) => !word.startsWith("-") && !SSH_OPTION.test(args[index - 1] ?? ""));

/**
 * Why a reference may not stand in a simple command, after `words` and at the end of `current`: there its value would
 * be run as code although it is not pasted. Null when it may.
 */
export const dangerIn = (words: string[], current: string): string | null => {
  const index = commandIndex(words);
  if (index < 0) return null;
  const command = base(words[index]!);
  const args = words.slice(index + 1);
  if (isCodeOf(words) || isFirstArgument(command, args) || isRemote(command, args)) return REFUSED.code;
  return inBuiltin(command, args, current);
};

/** Whether a heredoc on a line with these words is a program for one of them. */
export const readsProgram = (words: string[]): boolean =>
  words.some(
    (word) => base(word) === "ssh" || INTERPRETERS.some(([name]) => name.test(base(word)) && !/sed$/.test(word)),
  );

/** Whether `[[ ]]` with these words takes its operands for numbers or names. */
export const isArithmeticTest = (words: string[]): boolean =>
  words.some((word) => /^-(?:eq|ne|lt|le|gt|ge|v|R)$/.test(word));
