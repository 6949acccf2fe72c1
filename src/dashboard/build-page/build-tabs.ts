import type { Build } from "../../protocol/build.ts";
import type { TestSummary } from "../../protocol/test-report.ts";
import type { Tab } from "../components/part-tabs.tsx";

/** What builds and jobs have that is shown in a tab. */
interface Parts {
  hasLog: boolean;
  tests: TestSummary | null;
  artifacts: number;
  environment: Build["environment"];
  outputs?: number;
  hasSummary: boolean;
}

/** The tabs of what there is. The first is shown at first. */
export const tabsOf = ({ hasLog, tests, artifacts, environment, outputs = 0, hasSummary }: Parts): Tab[] => {
  const keys = environment?.length ?? 0;
  return [
    ...(hasLog ? [{ name: "log", title: "Log", count: null }] : []),
    ...(tests ? [{ name: "tests", title: "Tests", count: tests.failed || tests.total, isBad: tests.failed > 0 }] : []),
    ...(artifacts > 0 ? [{ name: "artifacts", title: "Artifacts", count: artifacts }] : []),
    ...(keys > 0 ? [{ name: "environment", title: "Environment", count: keys }] : []),
    ...(outputs > 0 ? [{ name: "outputs", title: "Outputs", count: outputs }] : []),
    ...(hasSummary ? [{ name: "summary", title: "Summary", count: null }] : []),
  ];
};
