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
      "they are fetched, but each combination of a matrix has folders of its values here: name these in what reads the files, then remove this step",
    minutes: 2,
  },
  cache: {
    reason: "write an equivalent in `cache` of the job: without it the job is only slower",
    minutes: 3,
  },
  "cache-handed-over": {
    reason: "use `artifacts` and `downloads` for files that another job needs: a cache may expire at any time",
    minutes: 5,
  },
  checkout: {
    reason:
      "the agent makes the one checkout, of the commit that is built, before the first step: fetch what else is needed in a step",
    minutes: 3,
  },
  "always-true": {
    reason:
      "on GitHub this condition is always true, because of the text around it: write the intended one without ${{ }}",
    minutes: 1,
  },
  "checkout-again": {
    reason: "the agent's own checkout is in the folder above too, from the beginning: look whether a step minds that",
    minutes: 1,
  },
  clone: {
    reason: "it is fetched from github.com without a token: give the step one where the repository is private",
    minutes: 1,
  },
  "checkout-first": {
    reason: "the agent makes the checkout before the first step: look whether a step before it minds the files",
    minutes: 1,
  },
  concurrency: {
    reason: "older builds end here only by `supersede`, which knows refs and no groups: choose one of its words",
    minutes: 1,
  },
  container: {
    reason: "steps run on the agent itself: give it what the container had, then remove the first step",
    minutes: 10,
  },
  empty: {
    reason: "no step of this job is left, so it fails until you write one",
    minutes: 1,
  },
  event: {
    reason: "this event builds nothing here: send a request if you need it",
    minutes: 2,
  },
  expression: {
    reason: "this has no equivalent here: write it with the names of pipelines.md, or remove it",
    minutes: 5,
  },
  "group-order": {
    reason:
      "there a newer waiting job takes the place of an older one; here all wait, first come, first served: nothing to write where that is right",
    minutes: 1,
  },
  label: {
    reason: "an agent must have this label: give it one, or remove the label here",
    minutes: 1,
  },
  machine: {
    reason: "it prepares GitHub's machines, and an agent's machine has what you installed: remove it",
    minutes: 1,
  },
  matrix: {
    reason: "a matrix lists its values here, each a text, true or false: list them",
    minutes: 10,
  },
  "may-fail": {
    reason: "for a step this is true or false here: until it is true, the job fails with the step",
    minutes: 1,
  },
  number: {
    reason: "GitHub reads this number as another text than the one that is written: write in quotes what is meant",
    minutes: 1,
  },
  pattern: {
    reason:
      "patterns here have *, **, ? for one character and, for refs, classes such as [0-9]+: nothing of this event is built until it is rewritten",
    minutes: 2,
  },
  refused: {
    reason: "`check` refuses this: write what its message says",
    minutes: 5,
  },
  "report-elsewhere": {
    reason: "it only notifies another service, and no later step needs it: remove it, or send the report in a step",
    minutes: 1,
  },
  reusable: {
    reason: "other workflows cannot be called here: write the steps of that one",
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
    reason: "there is no such shell here: write it for bash, sh, pwsh, python or node",
    minutes: 5,
  },
  template: {
    reason: "a template of steps (`include`) takes the place of a local action: rewrite its file as one",
    minutes: 10,
  },
  timeout: {
    reason: "this is a whole number from 1 to 1440 here",
    minutes: 1,
  },
  token: {
    reason: "builds get no token of the git host: keep one as a secret of the repository, and name it here",
    minutes: 3,
  },
  tool: {
    reason: "`tools` cannot express this version or input: write one that mise knows",
    minutes: 3,
  },
  "tools-later": {
    reason: "`tools` is not known to this release",
    minutes: 3,
  },
  unknown: {
    reason: "this has no equivalent here: remove it, or write a step instead",
    minutes: 2,
  },
  windows: {
    // A look is enough: everything that needs Windows is already left out.
    reason: "there is no agent for Windows: what needs one does not run: remove it, or let it run elsewhere",
    minutes: 1,
  },
  words: {
    reason:
      "there a value outside quotes is as many words as it has; here it is one: for several set a variable under `env` and write $NAME",
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
    `# ${counted(marks.length, "mark")} of the import, about ${minutes} of work:`,
    ...[...byKind].map(([kind, own]) => {
      const lines = own.map(({ printedAt }) => printedAt).join(", ");
      return `#   ${kind}, ${counted(minutesOf(own), "minute")}: ${own.length === 1 ? "line" : "lines"} ${lines}`;
    }),
  ];
};
