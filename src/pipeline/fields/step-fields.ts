import { isMap, isScalar } from "yaml";
import { LIMITS } from "../../protocol/limits.ts";
import { STEP_WORD_ADVICE, stepKeyAdvice } from "../advice/keys.ts";
import { SHELLS } from "../parse/plan.ts";
import { field, list, mapping, record } from "../yaml/collection-parsers.ts";
import { either, type ParsedBy } from "../yaml/node-parser.ts";
import { choice, flag, KEY, name, text, wholeNumber } from "../yaml/scalar-parsers.ts";
import { FILE_LIMITS } from "./limits.ts";

const times = wholeNumber(1, FILE_LIMITS.retryTimes);
/** The exit code of a failed program. */
const exitCode = wholeNumber(1, 255);

/** Advice on keys of other systems. */
const ADVICE: [keys: string, advice: string][] = [
  ["max limit attempts max_attempts max-attempts automatic", "Write `times`: the tries after the first one"],
  ["exit_codes exit-codes exit_status when", "Write `on`, a list of exit codes: `on: [1, 137]`"],
  ["wait delay interval retry_wait_seconds", "Write `wait-seconds`"],
];

const OPTIONS = mapping(
  {
    times: { ...field(times, "Tries after the first one."), required: true },
    on: field(
      list(exitCode, { atLeast: 1, atMost: FILE_LIMITS.retryExitCodes }),
      "Exit codes after which it is retried; any failure by default.",
    ),
    "wait-seconds": field(wholeNumber(0, FILE_LIMITS.retryWaitSeconds), "Seconds before each of these tries."),
  },
  { name: "`retry`", adviceForKey: (key) => ADVICE.find(([keys]) => keys.split(" ").includes(key))?.[1] },
);

/** The `retry` of a step: a number of tries, or a mapping. */
const RETRY = either(OPTIONS, isMap, times);

/** Returns why a step cannot run in this folder, without quoting it; null if it can. */
export const folderProblem = (folder: string): string | null => {
  if (folder.startsWith("/")) return "A working-directory is relative to the checkout: it must not begin with /";
  if (folder.split("/").includes("..")) return "A working-directory is inside the checkout: it must not have .. in it";
  if (folder.includes("\0")) return "A working-directory must not have a NUL character";
  return null;
};

/** The valid names of steps, jobs and outputs. */
export const NAME_IN_FILE = {
  pattern: /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_-]{0,99}$/,
  message: "A name must be letters, digits, _ and -, not beginning with a digit",
};

export const env = field(record(KEY, text(true)), "Variables for the steps, by name. Values may use ${{ }}.");
/** The maximum timeout in minutes. A pipeline's `timeoutSeconds` has the same limit. */
export const TIMEOUT_MINUTES = LIMITS.timeoutSeconds / 60;
const timeout = field(wholeNumber(1, TIMEOUT_MINUTES), "Minutes after which it is stopped.");
const workingDirectory = field(text(), "Folder the commands run in, relative to the checkout. May use ${{ }}.");
const shell = field(choice(...SHELLS), "Program that runs the script; bash by default.");
export const condition = either(flag, (node) => isScalar(node) && typeof node.value === "boolean", text());

export const STEP = mapping(
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
    retry: field(RETRY, "How often to retry the step after it failed, or the tries, exit codes and wait."),
    "continue-on-error": field(flag, "Whether the build continues, and can succeed, when this step fails."),
  },
  {
    name: "a step",
    adviceForKey: stepKeyAdvice,
    adviceForWord: (word) => STEP_WORD_ADVICE.get(word) ?? "A step is a mapping: write `- run: ` before the command",
  },
);

export const STEP_DEFAULTS = mapping(
  {
    run: field(
      mapping({ shell, "working-directory": workingDirectory }, { name: "`defaults.run`" }),
      "Defaults for every step.",
    ),
  },
  { name: "`defaults`" },
);

export type StepOfFile = ParsedBy<typeof STEP>;
