/* Keys that people write at an include, or in an included file, because other systems have them there. */

const rows = (...of: [keys: string, advice: string][]): Map<string, string> =>
  new Map(of.flatMap(([keys, advice]) => keys.split(" ").map((key) => [key, advice] as const)));

/** Keys of an entry that includes a file. */
export const INCLUDE_ENTRY_ADVICE = rows(
  ["if when rules condition", "Write `if` in the steps of the included file: it can read `inputs`"],
  ["inputs parameters vars variables env", "Write `with`, for example `with: { version: 24 }`"],
  ["run script uses", "Write it in a step of its own"],
  ["local file path template remote project ref", "Write `include: ./ci/setup.yml`"],
);

/** Keys at the top of an included file. */
export const INCLUDED_FILE_ADVICE = rows(
  ["parameters spec params", "Write `inputs`"],
  ["runs jobs", "Write its `steps`: they become steps of the job that includes it"],
  [
    "env defaults requires timeout-minutes checkout groups needs tools cache artifacts",
    "Write it in the pipeline file, or in a step: an included file has `inputs` and `steps`",
  ],
  ["on supersede schedule", "When it is built stands in the pipeline file alone"],
);
