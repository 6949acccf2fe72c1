import { isScalar } from "yaml";
import { LABEL, LABEL_RULE } from "../../protocol/common.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { KEYS_OF_FILE, KEYS_OF_STEP, ONE_JOB, WORDS_FOR_STEP } from "../other-ci/keys.ts";
import { isJob } from "./foreign-jobs.ts";
import { FILE_LIMITS } from "./limits.ts";
import { SHELLS } from "./plan.ts";
import {
  choice,
  either,
  type Field,
  flag,
  list,
  mapping,
  name,
  type Reader,
  record,
  text,
  wholeNumber,
} from "./reader.ts";

const field = <Value>(reader: Reader<Value>, description: string): Field<Value> => ({ reader, description });

const KEY = {
  pattern: new RegExp(`^(?!MILLRACE_|__proto__$)[A-Za-z_][A-Za-z0-9_]{0,${LIMITS.keyCharacters - 1}}$`),
  message: "The name of a variable must be letters, digits and _, not begin with a digit, and not with MILLRACE_",
};
const env = field(record(KEY, text(true)), "Variables for the steps, by name. Values may use ${{ }}.");
/** A pipeline's `timeoutSeconds` has the same limit. */
const TIMEOUT_MINUTES = LIMITS.timeoutSeconds / 60;
const timeout = field(wholeNumber(1, TIMEOUT_MINUTES), "Minutes after which it is stopped.");
const workingDirectory = field(text(), "Folder the commands run in, relative to the checkout. May use ${{ }}.");
const shell = field(choice(...SHELLS), "What runs the script; bash unless said otherwise.");
const label = name(LABEL, `A label ${LABEL_RULE}`);

const REQUIRES = mapping(
  {
    platform: field(choice("macos", "linux", "windows"), "Operating system of the agent."),
    ios: field(flag, "The agent can build for iOS."),
    android: field(flag, "The agent can build for Android."),
    web: field(flag, "The agent can build for the web."),
    labels: field(list(label, { atMost: LIMITS.labels }), "Labels the agent has, all of them."),
  },
  { name: "`requires`" },
);

const CHECKOUT = mapping(
  {
    depth: field(wholeNumber(0, 1_000_000), "Commits to fetch, 1 unless said otherwise; 0 is the whole history."),
    submodules: field(choice<boolean | "recursive">(false, true, "recursive"), "Whether submodules are fetched too."),
    lfs: field(flag, "Whether the files of Git LFS are fetched."),
    "fetch-tags": field(flag, "Whether tags are fetched."),
  },
  { name: "`checkout`" },
);

const condition = either(flag, (node) => isScalar(node) && typeof node.value === "boolean", text());

const STEP = mapping(
  {
    id: field(
      name(/^[A-Za-z_][A-Za-z0-9_-]{0,99}$/, "An id must be letters, digits, _ and -, not beginning with a digit"),
      "Name by which later steps refer to this one: steps.ID.outputs.NAME.",
    ),
    name: field(text(), "What people see. May use ${{ }}."),
    run: {
      ...field(
        text(false, "text: write `run: |` and the commands below it, one a line"),
        "The script. Each ${{ }} in it is given to the shell as a variable, never pasted.",
      ),
      required: true,
    },
    shell,
    env,
    if: field(
      condition,
      "Condition to run the step; without success(), failure(), always() or cancelled() it means success() && (...).",
    ),
    "working-directory": workingDirectory,
    "timeout-minutes": timeout,
    "continue-on-error": field(flag, "Whether the build goes on, and can succeed, when this step fails."),
  },
  {
    name: "a step",
    elsewhere: (key) => KEYS_OF_STEP.get(key),
    insteadOf: (word) => WORDS_FOR_STEP.get(word) ?? "A step is a mapping: write `- run: ` before the command",
  },
);

/** Keys at the top of a file. */
export const FIELDS = {
  name: field(text(), "For readers of the file; elsewhere people see the name the pipeline has in the service."),
  env,
  defaults: field(
    mapping(
      {
        run: field(
          mapping({ shell, "working-directory": workingDirectory }, { name: "`defaults.run`" }),
          "For every step that does not say otherwise.",
        ),
      },
      { name: "`defaults`" },
    ),
    "What steps have when they do not say otherwise.",
  ),
  requires: field(REQUIRES, "What the agent must have, besides what the pipeline asks for."),
  "timeout-minutes": field(
    wholeNumber(1, TIMEOUT_MINUTES),
    "Minutes after which the build is stopped; the pipeline's own limit holds too.",
  ),
  checkout: field(CHECKOUT, "How the commit is fetched."),
  steps: { ...field(list(STEP, { atLeast: 1, atMost: FILE_LIMITS.steps }), "What is done, in order."), required: true },
};

/** The language of pipeline files: what reads them, and through its schema what documents them. */
export const PIPELINE_FILE = mapping(FIELDS, {
  name: "a pipeline file",
  elsewhere: (key, value, reading) => KEYS_OF_FILE.get(key) ?? (isJob(value, reading) ? ONE_JOB : undefined),
});

/** A job of a file for another system: it says what a pipeline file does, or as much of it. */
export const JOB = mapping(
  { ...FIELDS, steps: { ...FIELDS.steps, required: false } },
  { name: "a pipeline file", elsewhere: (key) => KEYS_OF_FILE.get(key) },
);

type ReadBy<R> = R extends Reader<infer Value> ? Value : never;
export type PipelineFile = ReadBy<typeof PIPELINE_FILE>;
export type StepOfFile = ReadBy<typeof STEP>;
