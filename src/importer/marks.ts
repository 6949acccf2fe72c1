import { Comment } from "./out.ts";

/* What has no equal here, by kinds: each with the reason that a mark of it gives. */

/** The kinds of marks; docs/import.md lists them. */
export const MARKS = {
  action: "actions of others are not run here: write the commands as `run`",
  "action-script": "this runs code with the git host's token, and builds get none: call the host's API in `run`",
  "action-input": "this input of the action has no equal here",
  annotation: "there is no such key here",
  approval:
    "the environment may have had reviewers, which no file shows: the gate asks a person; remove it if none is needed",
  artifact: "this cannot be said in `artifacts` or `downloads` of a job",
  cache: "write its equal in `cache` of the job: without it the job is slower, and nothing else",
  checkout: "the agent makes the one checkout, of the commit that is built, before the first step",
  concurrency: "older builds end here only by `supersede`, which knows refs and no groups",
  container: "steps run on the agent itself: it must have what the container had",
  empty: "nothing of this job is left to run, so it never runs, nor what needs it",
  event: "nothing here is built by this event",
  expression: "this cannot be said here",
  "group-order": "there a newer waiting job takes the place of an older one; here all wait, first come, first served",
  label: "an agent must have this label: give it one, or remove the label here",
  matrix: "the values of a matrix are written out here, each a text, true or false",
  number: "GitHub reads this number as another text than the one that is written",
  pattern: "patterns here have *, ** and ? for one character: nothing of this event is built until it is rewritten",
  permissions: "builds get no token of the git host: nothing to allow",
  refused: "`check` refuses this",
  reusable: "other workflows cannot be called here: write the steps of that one",
  script: "this script speaks to GitHub's runner in a way that has no equal here",
  services: "start services in a step: steps run on the agent itself",
  shell: "there is no such shell here: bash, sh, pwsh, python and node",
  template: "a template of steps (`include`) takes the place of a local action: rewrite its file as one",
  timeout: "this is a whole number from 1 to 1440 here",
  tool: "this version or input of the tool cannot be said in `tools`",
  "tools-later": "`tools` is not known to this release",
  unknown: "this has no equal here",
  windows: "there is no agent for Windows: what needs one does not run",
  words: "there a value outside quotes is as many words as it has; here it is one",
} as const;

export type MarkKind = keyof typeof MARKS;

export interface Mark {
  kind: MarkKind;
  /** Line of the workflow, from 1. */
  line: number;
  message: string;
}

/** A part of the workflow cannot be said here. */
export class NoEqual extends Error {
  readonly kind: MarkKind;
  constructor(what: string, kind: MarkKind = "expression") {
    super(what);
    this.kind = kind;
  }
}

/** Most lines of the workflow that one mark repeats. */
const MOST_LINES = 60;

/** The marks of one translation. */
export class Marks {
  readonly list: Mark[] = [];

  /** `what` is the thing in the workflow; `original` are its lines, which the comment repeats. */
  add(kind: MarkKind, what: string, line: number, original: string[] = []): Comment {
    const message = `${what}: ${MARKS[kind]}`;
    this.list.push({ kind, line, message });
    const more = original.length > MOST_LINES ? [`   (${original.length - MOST_LINES} more lines)`] : [];
    return new Comment([`import: ${message}`, ...original.slice(0, MOST_LINES).map((one) => `   ${one}`), ...more]);
  }
}
