import type { TestReport } from "../../protocol/test-report.ts";

/** A test by what people call it: `suite > class > name`. */
export const testName = ({
  suite,
  className,
  name,
}: Pick<TestReport["tests"][number], "suite" | "className" | "name">): string =>
  [suite, className, name].filter((part) => part !== "").join(" > ") || "a test without a name";
