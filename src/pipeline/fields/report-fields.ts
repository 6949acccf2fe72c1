import { field, mapping } from "../yaml/mapping-parser.ts";
import type { ParsedBy } from "../yaml/node-parser.ts";
import { PATHS } from "./artifact-fields.ts";

/** What a job's tools say about its tests. */
export const REPORTS = mapping(
  {
    junit: {
      ...field(PATHS, "JUnit reports: a file, a folder or a pattern in the checkout, or a list of them."),
      required: true,
    },
  },
  {
    name: "`reports`",
    adviceForKey: (key) =>
      /^(?:junit[_-]xml|xml|tests?|test[_-]results|path)$/.test(key) ? "Write `junit`" : undefined,
    adviceForWord: () => "Write a mapping, for example `reports: { junit: build/reports/*.xml }`",
  },
);

/** The patterns of the reports; none where nothing is said. */
export const reportsOf = (written: ParsedBy<typeof REPORTS> | undefined): { junit: string[] } => ({
  junit: (written?.junit ?? []).map(({ text }) => text),
});
