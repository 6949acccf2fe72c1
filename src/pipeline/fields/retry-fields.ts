import { isMap } from "yaml";
import { list } from "../yaml/list-parser.ts";
import { field, mapping } from "../yaml/mapping-parser.ts";
import { either } from "../yaml/node-parser.ts";
import { wholeNumber } from "../yaml/scalar-parsers.ts";
import { FILE_LIMITS } from "./limits.ts";

const times = wholeNumber(1, FILE_LIMITS.retryTimes);
/** What a program that failed ends with. */
const exitCode = wholeNumber(1, 255);

/** Keys of other systems. */
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
      "Exit codes after which it is tried again; any failure when left out.",
    ),
    "wait-seconds": field(wholeNumber(0, FILE_LIMITS.retryWaitSeconds), "Seconds before each of these tries."),
  },
  { name: "`retry`", adviceForKey: (key) => ADVICE.find(([keys]) => keys.split(" ").includes(key))?.[1] },
);

/** `retry` of a step: a number of tries, or a mapping. */
export const RETRY = either(OPTIONS, isMap, times);
