import { isScalar } from "yaml";
import { LABEL, LABEL_RULE } from "../../protocol/common.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { FILE_KEY_ADVICE, ONE_JOB, STEP_KEY_ADVICE, STEP_WORD_ADVICE } from "../other-ci/keys.ts";
import { FILE_LIMITS } from "./limits.ts";
import { list } from "./list-parser.ts";
import { field, type MappingAdvice, type MappingOf, mapping, record } from "./mapping-parser.ts";
import { either, type NodeParser } from "./node-parser.ts";
import { isJob } from "./other-ci-jobs.ts";
import { SHELLS } from "./plan.ts";
import { choice, flag, name, text, wholeNumber } from "./scalar-parsers.ts";
import { TRIGGER_FIELDS } from "./trigger-fields.ts";
import { KEY } from "./variable-key.ts";

const env = field(record(KEY, text(true)), "Variables for the steps, by name. Values may use ${{ }}.");
/** A pipeline's `timeoutSeconds` has the same limit. */
const TIMEOUT_MINUTES = LIMITS.timeoutSeconds / 60;
const timeout = field(wholeNumber(1, TIMEOUT_MINUTES), "Minutes after which it is stopped.");
const workingDirectory = field(text(), "Folder the commands run in, relative to the checkout. May use ${{ }}.");
const shell = field(choice(...SHELLS), "Program that runs the script; bash by default.");
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
    depth: field(wholeNumber(0, 1_000_000), "Commits to fetch, 1 by default; 0 is the whole history."),
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
    name: field(text(), "Name shown to people. May use ${{ }}."),
    run: {
      ...field(
        text(false, "text: write `run: |` and the commands below it, one a line"),
        "The script. Each ${{ }} in it becomes a variable, never a part of the script.",
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
    adviceForKey: (key) => STEP_KEY_ADVICE.get(key),
    adviceForWord: (word) => STEP_WORD_ADVICE.get(word) ?? "A step is a mapping: write `- run: ` before the command",
  },
);

/** Keys at the top of a file that say what its builds do. */
const BUILD_FIELDS = {
  name: field(text(), "A name for readers of the file. The service shows the pipeline's own name."),
  env,
  defaults: field(
    mapping(
      {
        run: field(
          mapping({ shell, "working-directory": workingDirectory }, { name: "`defaults.run`" }),
          "Defaults for every step.",
        ),
      },
      { name: "`defaults`" },
    ),
    "Defaults for the steps.",
  ),
  requires: field(REQUIRES, "Requirements for the agent, in addition to the pipeline's."),
  "timeout-minutes": field(
    wholeNumber(1, TIMEOUT_MINUTES),
    "Minutes after which the build is stopped; the pipeline's own limit holds too.",
  ),
  checkout: field(CHECKOUT, "How the commit is fetched."),
  steps: { ...field(list(STEP, { atLeast: 1, atMost: FILE_LIMITS.steps }), "The steps, in order."), required: true },
};

/** Keys at the top of a file. */
export const FILE_FIELDS = { ...BUILD_FIELDS, ...TRIGGER_FIELDS };

const ADVICE: MappingAdvice = {
  name: "a pipeline file",
  adviceForKey: (key, value, context) => FILE_KEY_ADVICE.get(key) ?? (isJob(value, context) ? ONE_JOB : undefined),
};

/** The language of pipeline files: its parser, and its JSON Schema. */
export const PIPELINE_FILE = mapping(FILE_FIELDS, ADVICE);

const ANYTHING = field<unknown>({ schema: {}, parse: () => null }, "Read from the default branch, by the service.");

/** A file as an agent reads it. When it is built is decided elsewhere: what it says of that is not looked at. */
export const RUNNABLE_FILE = mapping(
  { ...BUILD_FIELDS, on: ANYTHING, supersede: ANYTHING, schedule: ANYTHING },
  ADVICE,
);

/** A job in a file for another CI: it has the keys of a pipeline file, none of them required. */
export const OTHER_CI_JOB = mapping(
  { ...BUILD_FIELDS, steps: { ...BUILD_FIELDS.steps, required: false } },
  { name: "a pipeline file", adviceForKey: (key) => FILE_KEY_ADVICE.get(key) },
);

/** What a file says of its builds. */
export type PipelineFile = MappingOf<typeof BUILD_FIELDS>;
export type StepOfFile = ParsedBy<typeof STEP>;
type ParsedBy<R> = R extends NodeParser<infer Value> ? Value : never;
