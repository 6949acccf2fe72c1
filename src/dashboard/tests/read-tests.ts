import type { TestReport, TestSummary } from "../../protocol/test-report.ts";
import type { Context } from "../../services/core/context.ts";
import { Refusal } from "../../services/core/refusal.ts";
import { getJobTests, listBuildTests } from "../../services/test-reports.ts";
import { byId } from "../verb-input.ts";

/** The reports of a build or a job; empty without any, null where they are not kept any more. */
export const readTests = async (
  context: Context,
  of: { id: string; tests: TestSummary | null },
  kind: "build" | "job",
): Promise<TestReport[] | null> => {
  if (!of.tests) return [];
  try {
    const input = byId(of.id);
    return kind === "build" ? await listBuildTests.run(context, input) : [await getJobTests.run(context, input)];
  } catch (error) {
    if (error instanceof Refusal && (error.kind === "gone" || error.kind === "not-found")) return null;
    throw error;
  }
};
