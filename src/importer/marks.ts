import { Comment } from "./out.ts";

/* Kinds of things without an equivalent here. */

/**
 * The kinds of marks: the reason that a mark gives, and the minutes that a person who knows the workflow needs to write
 * a replacement. The minutes are an estimate; docs/import.md has the table.
 */
export const MARKS = {
  action: {
    reason: "actions do not run here: write its commands as `run`",
    minutes: 5,
  },
  "action-script": {
    reason: "this runs code with the git host's token, and builds get none: call the host's API in `run`",
    minutes: 15,
  },
  "action-input": {
    reason: "this input has no equivalent here: write a step instead, or remove it",
    minutes: 2,
  },
  approval: {
    reason:
      "the environment may have reviewers, which no file shows: the gate asks a person; remove it if nobody has to approve",
    minutes: 1,
  },
  artifact: {
    reason: "`artifacts` and `downloads` cannot express this: write an equivalent there",
    minutes: 5,
  },
  "artifact-folders": {
    reason:
      "they are downloaded, but here each combination of a matrix has folders named after its values: use these in the steps that read the files, then remove this step",
    minutes: 2,
  },
  cache: {
    reason: "write an equivalent in the job's `cache`: without it the job is only slower",
    minutes: 3,
  },
  "cache-handed-over": {
    reason: "use `artifacts` and `downloads` for files that another job needs: a cache may expire at any time",
    minutes: 5,
  },
  checkout: {
    reason: "the agent checks out only the build's commit, before the first step: fetch anything else in a step",
    minutes: 3,
  },
  "always-true": {
    reason:
      "on GitHub this condition is always true, because of the text around it: write the intended condition without ${{ }}",
    minutes: 1,
  },
  "checkout-again": {
    reason:
      "the agent also checks out the commit in the folder above, before the first step: check that this affects no step",
    minutes: 1,
  },
  clone: {
    reason: "the step fetches it from github.com without a token: add one if the repository is private",
    minutes: 1,
  },
  "checkout-first": {
    reason: "the agent checks the commit out before the first step: check that the files affect no earlier step",
    minutes: 1,
  },
  concurrency: {
    reason: "only `supersede` ends older builds here, by ref and not by group: choose one of its values",
    minutes: 1,
  },
  container: {
    reason: "steps run on the agent itself: install what the container had, then remove the first step",
    minutes: 10,
  },
  empty: {
    reason: "no step of this job is left, so it fails until you write one",
    minutes: 1,
  },
  event: {
    reason: "this event triggers no build here: request a build if you need one",
    minutes: 2,
  },
  expression: {
    reason: "this has no equivalent here: write it with the names in pipelines.md, or remove it",
    minutes: 5,
  },
  "group-order": {
    reason:
      "on GitHub a newer waiting job replaces an older one; here all jobs wait and run in order: change nothing if that is right",
    minutes: 1,
  },
  label: {
    reason: "an agent must have this label: add it to an agent, or remove it here",
    minutes: 1,
  },
  machine: {
    reason: "it prepares GitHub's machines; an agent's machine has the software that you installed: remove it",
    minutes: 1,
  },
  matrix: {
    reason: "here a matrix lists its values, each a text, true or false: list them",
    minutes: 10,
  },
  "may-fail": {
    reason: "for a step this is true or false here: until you write true, the job fails if the step fails",
    minutes: 1,
  },
  number: {
    reason: "GitHub reads this number as a different text: write the intended text in quotes",
    minutes: 1,
  },
  pattern: {
    reason:
      "patterns here have *, **, ? for one character and, for refs, classes such as [0-9]+: its event triggers no build until you rewrite the pattern",
    minutes: 2,
  },
  refused: {
    reason: "`check` rejects this: follow its message",
    minutes: 5,
  },
  "report-elsewhere": {
    reason: "it only notifies another service, and no later step needs it: remove it, or send the report in a step",
    minutes: 1,
  },
  reusable: {
    reason: "a job cannot call another workflow here: write that workflow's steps",
    minutes: 15,
  },
  script: {
    reason:
      "this script uses GitHub's runner in a way without an equivalent here: use the variables that begin with `MILLRACE_`",
    minutes: 5,
  },
  services: {
    reason: "steps run on the agent itself: start the services in a step, then remove the first step",
    minutes: 15,
  },
  shell: {
    reason: "this shell does not exist here: rewrite the script for bash, sh, pwsh, python or node",
    minutes: 5,
  },
  template: {
    reason: "here a template of steps (`include`) replaces a local action: rewrite its file as a template",
    minutes: 10,
  },
  timeout: {
    reason: "here this is a whole number from 1 to 1440",
    minutes: 1,
  },
  token: {
    reason: "builds get no token of the git host: store one as a secret of the repository, and use it here",
    minutes: 3,
  },
  tool: {
    reason: "`tools` cannot express this version or input: write one that mise knows",
    minutes: 3,
  },
  "tools-later": {
    reason: "this release does not support `tools`",
    minutes: 3,
  },
  unknown: {
    reason: "this has no equivalent here: remove it, or write a step instead",
    minutes: 2,
  },
  windows: {
    // A look is enough: everything that needs Windows is already left out.
    reason: "there is no agent for Windows, so this does not run: remove it, or run it elsewhere",
    minutes: 1,
  },
  words: {
    reason:
      "on GitHub the shell splits a value outside quotes into words; here it is one word: for several, set a variable under `env` and write $NAME",
    minutes: 1,
  },
} as const;

export type MarkKind = keyof typeof MARKS;

export interface Mark {
  kind: MarkKind;
  /** The workflow's line, from 1. */
  line: number;
  message: string;
  /** The mark's full printed text. */
  text: string;
}

/** A part of the workflow has no equivalent here. */
export class NoEqual extends Error {
  readonly kind: MarkKind;
  constructor(what: string, kind: MarkKind = "expression") {
    super(what);
    this.kind = kind;
  }
}

/** The maximum number of the workflow's lines that one mark repeats. */
const MOST_LINES = 60;

/** The marks of one translation. */
export class Marks {
  readonly list: Mark[] = [];

  /** Adds a mark. `what` is the thing in the workflow. The comment repeats `original`, its lines. */
  add(kind: MarkKind, what: string, line: number, original: string[] = []): Comment {
    const message = `${what}: ${MARKS[kind].reason}`;
    const more = original.length > MOST_LINES ? [`   (${original.length - MOST_LINES} more lines)`] : [];
    const lines = original.slice(0, MOST_LINES).map((one) => `   ${one}`);
    const comment = new Comment([`import: ${message}`, ...lines, ...more], kind);
    this.list.push({ kind, line, message, text: comment.lines.join("\n") });
    return comment;
  }
}

/**
 * Returns the minutes that a person needs to replace the marks. Marks with the same text count once: one replacement
 * serves all.
 */
export const minutesOf = (marks: readonly Pick<Mark, "kind" | "text">[]): number =>
  [...new Map(marks.map(({ kind, text }) => [text, kind])).values()].reduce(
    (sum, kind) => sum + MARKS[kind].minutes,
    0,
  );

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;

/** Returns the file's last lines: the marks, with the lines that print them. Empty without marks. */
export const summaryLines = (marks: readonly { kind: MarkKind; text: string; printedAt: number }[]): string[] => {
  if (marks.length === 0) return [];
  const byKind = Map.groupBy(marks, ({ kind }) => kind);
  const minutes = counted(minutesOf(marks), "minute");
  return [
    "",
    `# The import left ${counted(marks.length, "mark")}, about ${minutes} of work:`,
    ...[...byKind].map(([kind, own]) => {
      const lines = own.map(({ printedAt }) => printedAt).join(", ");
      return `#   ${kind}, ${counted(minutesOf(own), "minute")}: ${own.length === 1 ? "line" : "lines"} ${lines}`;
    }),
  ];
};
