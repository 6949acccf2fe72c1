import { idiomsIn } from "../pipeline/advice/scripts.ts";
import { findSpans } from "../pipeline/expression/interpolation.ts";
import { replaceExpressions } from "../pipeline/shell/references.ts";
import { translateExpression, translateText } from "./expression.ts";
import { NoEqual } from "./marks.ts";
import { findMatrixKey, findName, type Names } from "./names.ts";

/* GitHub's shells. If GitHub runs a script differently than the shell here, the script begins with the difference. */

interface TranslatedShell {
  /** Undefined for bash, the default. */
  shell: "sh" | "pwsh" | "python" | undefined;
  /** The script's first line; empty if not needed. */
  prelude: string;
}

const bash = (prelude = ""): TranslatedShell => ({ shell: undefined, prelude });

/** Reports whether the script has a `|` between two commands. `pipefail` decides whether its status counts. */
const hasPipe = (script: string): boolean => /(?<![|>])\|(?![|])/.test(script);

/** Translates `bash -e {0}` and the like. The script resets options that are on here but not on GitHub. */
const ownBash = (commandLine: string, script: string): TranslatedShell => {
  const words = commandLine.trim().split(/\s+/);
  if (words[0] !== "bash" || words.at(-1) !== "{0}") throw new NoEqual(`\`shell: ${commandLine}\``, "shell");
  const on = new Set<string>();
  for (let index = 1; index < words.length - 1; index++) {
    const word = words[index]!;
    if (word === "--noprofile" || word === "--norc") continue;
    if (!/^-[euxo]+$/.test(word)) throw new NoEqual(`\`shell: ${commandLine}\``, "shell");
    for (const letter of word.slice(1)) {
      if (letter !== "o") on.add(letter);
      else if (words[++index] === "pipefail") on.add("pipefail");
      else throw new NoEqual(`\`shell: ${commandLine}\``, "shell");
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

/** Returns the shell for a script. `shell` is undefined if the workflow names none. @throws {NoEqual} */
export const translateShell = (shell: string | undefined, script: string): TranslatedShell => {
  switch (shell) {
    case undefined:
      // Without a named shell, GitHub runs `bash -e`.
      return bash(hasPipe(script) ? "set +o pipefail" : "");
    case "bash":
      return bash();
    case "sh":
    case "pwsh":
    case "python":
      return { shell, prelude: "" };
    default:
      return ownBash(shell, script);
  }
};

/* Scripts: their expressions, and the ways in which they communicate with the runner. */

interface TranslatedScript {
  text: string;
  /** Variables that the script reads and GitHub sets, by name. */
  env: [string, string][];
  /** Expressions that become several words on GitHub, or none, if their values do. */
  words: string[];
}

const FILES: Record<string, string> = {
  GITHUB_OUTPUT: "MILLRACE_OUTPUT",
  GITHUB_ENV: "MILLRACE_ENV",
  GITHUB_PATH: "MILLRACE_PATH",
  GITHUB_STEP_SUMMARY: "MILLRACE_SUMMARY",
};

/** The runner's variables, with their equivalents in an expression. */
const VARIABLES: Record<string, string> = {
  GITHUB_SHA: "github.sha",
  GITHUB_REF: "github.ref",
  GITHUB_REF_NAME: "github.ref_name",
  GITHUB_REF_TYPE: "github.ref_type",
  GITHUB_HEAD_REF: "github.head_ref",
  GITHUB_BASE_REF: "github.base_ref",
  GITHUB_EVENT_NAME: "github.event_name",
  GITHUB_REPOSITORY: "github.repository",
  GITHUB_RUN_ID: "github.run_id",
  GITHUB_RUN_NUMBER: "github.run_number",
  GITHUB_RUN_ATTEMPT: "github.run_attempt",
  GITHUB_WORKFLOW: "github.workflow",
  GITHUB_JOB: "github.job",
  RUNNER_OS: "runner.os",
  RUNNER_NAME: "runner.name",
};

/** Returns the checkout's folder, for a step that begins in a folder of it. */
const workspaceFrom = (folder: string): string => {
  const above = folder.split("/").filter((part) => part !== "" && part !== ".");
  return above.length === 0 ? "$PWD" : `$(cd ${above.map(() => "..").join("/")} && pwd)`;
};

/** Returns lines for the beginning of a bash or sh script, depending on what it requires. @throws {NoEqual} */
const preludeFor = (script: string, shell: string, names: Names): string[] => {
  const asksForFolder =
    /(?<![A-Za-z0-9_])GITHUB_WORKSPACE(?![A-Za-z0-9_])/.test(script) && !hasVariable(names, "GITHUB_WORKSPACE");
  const asksForBranch = ASKS_FOR_BRANCH.test(script);
  if (!asksForFolder && !asksForBranch) return [];
  const isShell = shell === "bash" || shell === "sh";
  if (asksForFolder && (!isShell || names.folder === undefined))
    throw new NoEqual("$GITHUB_WORKSPACE, which no agent sets", "script");
  if (asksForBranch && !isShell)
    throw new NoEqual("the name of the branch (here only the commit is checked out)", "script");
  return [
    ...(asksForFolder ? [`export GITHUB_WORKSPACE="${workspaceFrom(names.folder ?? "")}"`] : []),
    ...(asksForBranch ? [CHECK_OUT_BRANCH] : []),
  ];
};

const ASKS_FOR_BRANCH =
  /\bgit\s+(?:branch\s+--show-current|symbolic-ref\s(?:[^\n|;&]*\s)?HEAD|rev-parse\s(?:[^\n|;&]*\s)?--abbrev-ref)/;

/** GitHub checks out a branch when it builds one. Here no build has a branch checked out. */
const CHECK_OUT_BRANCH =
  '[ -n "$MILLRACE_TAG$MILLRACE_PULL" ] || git symbolic-ref -q HEAD > /dev/null || git checkout -q -B "$MILLRACE_BRANCH"';

const KNOWN = new RegExp(`\\b(?:${Object.keys(FILES).join("|")})\\b`, "g");

const NAME = "((?:GITHUB|RUNNER|ACTIONS)_[A-Z_0-9]+)";
/** Any such name, whatever it means in the script: setting an unneeded variable does no harm. */
const NAMED = new RegExp(`(?<![A-Za-z0-9_])${NAME}`, "g");
/** Ways to read a variable: in a shell, in a program, and when passing it on. */
const READ = new RegExp(
  [
    String.raw`\$(?:env:|\{)?`,
    String.raw`(?:environ(?:\.get)?|getenv|ENV|ENV\.fetch|process\.env)[[(]\\?["']`,
    String.raw`process\.env\.`,
    String.raw`printenv\s+`,
    String.raw`(?:\s-e|--env)[\s=]`,
  ]
    .map((way) => way + NAME)
    .join("|"),
  "g",
);

const ADD_MASK = /^(\s*)echo\s+(?:"::add-mask::([^"\n]*)"|'::add-mask::([^'\n]*)'|::add-mask::(\S+))[ \t]*;?[ \t]*$/gm;
const SET_OUTPUT = /^(\s*)echo\s+"::set-output name=([A-Za-z_][\w-]*)::([^"\n]*)"[ \t]*$/gm;

const rewriteCommands = (script: string): string =>
  script
    .replaceAll(ADD_MASK, (_, indent: string, double?: string, single?: string, bare?: string) =>
      single === undefined
        ? `${indent}echo "${double ?? bare}" >> "$MILLRACE_MASK"`
        : `${indent}echo '${single}' >> "$MILLRACE_MASK"`,
    )
    .replaceAll(
      SET_OUTPUT,
      (_, indent: string, name: string, value: string) => `${indent}echo "${name}=${value}" >> "$MILLRACE_OUTPUT"`,
    )
    .replaceAll(KNOWN, (name) => FILES[name]!);

const isWorkspace = (expression: string): boolean => /^github\.workspace$/i.test(expression.trim());

const WORKSPACE = /\$\{\{\s*github\.workspace\s*\}\}/gi;

/** Translates a text with the checkout's folder for a shell's double quotes; undefined for others. @throws {NoEqual} */
export const withCheckout = (text: string, names: Names): string | undefined => {
  const marked = text.replaceAll(WORKSPACE, "\0");
  const isPlain = /^[\w.@+,:=/\0 -]*$/.test(marked.replaceAll(/\$\{\{.*?\}\}/g, ""));
  return marked !== text && isPlain ? translateText(marked, names).replaceAll("\0", "$PWD") : undefined;
};

/** Reports whether every possible value of an expression is one word that a shell reads literally. */
const isOneWord = (expression: string, names: Names): boolean => {
  if (
    /^github\.(?:sha|ref|ref_name|run_id|run_number|run_attempt|repository|event_name|workflow_sha|job)$/i.test(
      expression,
    )
  )
    return true;
  if (
    /^(?:runner\.(?:os|temp)|github\.event\.(?:pull_request\.number|number|pull_request\.head\.sha))$/i.test(expression)
  )
    return true;
  const key = /^matrix\.([\w.-]+)$/i.exec(expression)?.[1];
  const matrixKey = key === undefined ? undefined : findMatrixKey(names.matrix ?? [], key);
  return matrixKey?.values.every((value) => /^[\w.,:/@%+=-]+$/.test(String(value ?? ""))) ?? false;
};

/**
 * Variables for expressions outside quotes, which become as many words as their values have. The shell splits a
 * variable; an expression in a script is one word here.
 */
class WordVariables {
  readonly env: [string, string][] = [];
  readonly #names = new Map<string, string>();
  readonly #script: string;
  readonly #context: Names;

  constructor(script: string, context: Names) {
    this.#script = script;
    this.#context = context;
  }

  /** @throws {NoEqual} */
  nameFor(expression: string): string {
    const known = this.#names.get(expression);
    if (known !== undefined) return known;
    const name = this.#variableOf(expression) ?? this.#newName(expression);
    this.#names.set(expression, name);
    return name;
  }

  /** Returns the name of a variable that the file sets. The script already has this variable. */
  #variableOf(expression: string): string | undefined {
    const key = /^env\.([A-Za-z_]\w*)$/.exec(expression.trim())?.[1];
    return key === undefined ? undefined : findName(this.#context.env, key, (one) => one);
  }

  #newName(expression: string): string {
    const words = expression.toUpperCase().match(/[A-Z0-9_]+/g) ?? [];
    const short = words.length > 4 || /^\d/.test(words[0] ?? "1") ? "WORDS" : words.join("_");
    const isTaken = (name: string) => hasVariable(this.#context, name) || this.#script.includes(name);
    let name = short;
    for (let count = 2; isTaken(name) || this.env.some(([other]) => other === name); count++)
      name = `${short}_${count}`;
    this.env.push([name, `\${{ ${translateExpression(expression, this.#context)} }}`]);
    return name;
  }
}

const hasVariable = (names: Names, name: string): boolean => findName(names.env, name, (one) => one) !== undefined;

const variablesIn = (script: string, names: Names): [string, string][] => {
  const named = new Set([...script.matchAll(NAMED)].map(([, name = ""]) => name));
  const read = new Set([...script.matchAll(READ)].map((match) => match.slice(1).find((name) => name !== undefined)));
  return [...named].flatMap((name): [string, string][] => {
    if (hasVariable(names, name)) return [];
    if (name === "GITHUB_ACTIONS") return [[name, "true"]];
    if (Object.hasOwn(VARIABLES, name)) return [[name, `\${{ ${translateExpression(VARIABLES[name]!, names)} }}`]];
    const isSet = name === "GITHUB_WORKSPACE" || new RegExp(`(?<![A-Za-z0-9_$])${name}=`).test(script);
    if (read.has(name) && !isSet) throw new NoEqual(`$${name}, which no agent sets`, "script");
    return [];
  });
};

const reference = (name: string, after: string): string => (/^\w/.test(after) ? `\${${name}}` : `$${name}`);

/** @throws {NoEqual} for a script that names an untranslatable variable */
const refuseLost = (script: string, { lostEnv }: Names): void => {
  const words = new Set(lostEnv.length > 0 ? script.split(/[^A-Za-z0-9_]+/) : []);
  const lost = lostEnv.find((name) => words.has(name));
  if (lost !== undefined) throw new NoEqual(`the variable ${lost}, which could not be translated`);
};

/** @throws {NoEqual} */
export const translateScript = (
  script: string,
  shell: "bash" | "sh" | "pwsh" | "python",
  names: Names,
): TranslatedScript => {
  refuseLost(script, names);
  const text = rewriteCommands(script);
  const [idiom] = idiomsIn(text);
  if (idiom) throw new NoEqual(`a script (${idiom.advice})`, "script");
  const { expressions, problems } = replaceExpressions(text, shell);
  if (problems.length > 0) throw new NoEqual(`a script (${problems[0]!.message})`, "script");
  const live = new Set(expressions.map(({ offset }) => offset));
  const several = expressions.filter(
    ({ expression, isWord }) => isWord && !isWorkspace(expression) && !isOneWord(expression, names),
  );
  const isShell = shell === "bash" || shell === "sh";
  const variables = new WordVariables(text, names);
  const split = new Map(
    isShell ? several.map(({ offset, expression }) => [offset, variables.nameFor(expression)] as const) : [],
  );
  let translation = "";
  let end = 0;
  for (const span of findSpans(text).spans) {
    translation += text.slice(end, span.start);
    // A script's own comments stay unchanged, and are never evaluated.
    if (!live.has(span.innerStart)) translation += text.slice(span.start, span.end);
    else if (isWorkspace(span.inner)) translation += "${GITHUB_WORKSPACE}";
    else if (split.has(span.innerStart)) translation += reference(split.get(span.innerStart)!, text.slice(span.end));
    else translation += `\${{ ${translateExpression(span.inner, names)} }}`;
    end = span.end;
  }
  translation += text.slice(end);
  const prelude = preludeFor(translation, shell, names).map((line) => `${line}\n`);
  return {
    text: prelude.join("") + translation,
    env: [...variables.env, ...variablesIn(translation, names)],
    words: isShell ? [] : several.map(({ expression }) => expression),
  };
};
