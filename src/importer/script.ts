import { idiomsIn } from "../pipeline/advice/scripts.ts";
import { findSpans } from "../pipeline/expression/interpolation.ts";
import { replaceExpressions } from "../pipeline/shell/references.ts";
import { translateExpression } from "./expression.ts";
import { NoEqual } from "./marks.ts";
import { findName, type Names } from "./names.ts";

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

/** The shell for a script; `shell` is undefined where the workflow names none. @throws {NoEqual} */
export const translateShell = (shell: string | undefined, script: string): TranslatedShell => {
  switch (shell) {
    case undefined:
      // Where no shell is named, GitHub runs `bash -e`.
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

/* Scripts: their expressions, and the ways in which they speak to the runner. */

interface TranslatedScript {
  text: string;
  /** Variables that the script reads and that GitHub sets, by name. */
  env: [string, string][];
  /** Expressions that are several words there, or none, when their values are. */
  words: string[];
}

const FILES: Record<string, string> = {
  GITHUB_OUTPUT: "MILLRACE_OUTPUT",
  GITHUB_ENV: "MILLRACE_ENV",
  GITHUB_PATH: "MILLRACE_PATH",
  GITHUB_STEP_SUMMARY: "MILLRACE_SUMMARY",
};

/** Variables of the runner, by what they are in an expression. */
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

const KNOWN = new RegExp(`\\b(?:${Object.keys(FILES).join("|")})\\b`, "g");
const READ =
  /\$(?:env:|\{)?((?:GITHUB|RUNNER|ACTIONS)_[A-Z_0-9]+)|(?:environ(?:\.get)?|getenv)[[(]["']((?:GITHUB|RUNNER|ACTIONS)_[A-Z_0-9]+)/g;

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

/** Whether every value that an expression can have is one word, which a shell reads as it is. */
const isOneWord = (expression: string, names: Names): boolean => {
  if (
    /^github\.(?:sha|ref|ref_name|run_id|run_number|run_attempt|repository|event_name|workflow_sha|job)$/i.test(
      expression,
    )
  )
    return true;
  if (/^(?:runner\.os|github\.event\.(?:pull_request\.number|number|pull_request\.head\.sha))$/i.test(expression))
    return true;
  const key = /^matrix\.([\w-]+)$/i.exec(expression)?.[1];
  const matrixKey = key === undefined ? undefined : findName(names.matrix ?? [], key, ({ name }) => name);
  return matrixKey?.values.every((value) => /^[\w.,:/@%+=-]+$/.test(String(value ?? ""))) ?? false;
};

const variablesIn = (script: string, names: Names): [string, string][] => {
  const read = new Set([...script.matchAll(READ)].map(([, shell, program]) => shell ?? program ?? ""));
  return [...read].flatMap((name): [string, string][] => {
    if (findName(names.env, name, (one) => one) !== undefined) return [];
    if (name === "GITHUB_ACTIONS") return [];
    const expression = Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined;
    if (expression === undefined) throw new NoEqual(`$${name}, which no agent sets`, "script");
    return [[name, `\${{ ${translateExpression(expression, names)} }}`]];
  });
};

/** @throws {NoEqual} */
export const translateScript = (
  script: string,
  shell: "bash" | "sh" | "pwsh" | "python",
  names: Names,
): TranslatedScript => {
  const text = rewriteCommands(script);
  const [idiom] = idiomsIn(text);
  if (idiom) throw new NoEqual(`a script (${idiom.advice})`, "script");
  const { expressions, problems } = replaceExpressions(text, shell);
  if (problems.length > 0) throw new NoEqual(`a script (${problems[0]!.message})`, "script");
  const live = new Set(expressions.map(({ offset }) => offset));
  const words = expressions.flatMap(({ expression, isWord }) =>
    isWord && !isOneWord(expression, names) ? [expression] : [],
  );
  let translation = "";
  let end = 0;
  for (const span of findSpans(text).spans) {
    translation += text.slice(end, span.start);
    // What stands in a comment of the script stays as it is, and is never evaluated.
    translation += live.has(span.innerStart)
      ? `\${{ ${translateExpression(span.inner, names)} }}`
      : text.slice(span.start, span.end);
    end = span.end;
  }
  return { text: translation + text.slice(end), env: variablesIn(text, names), words };
};
