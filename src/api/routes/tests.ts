import { getTestHistory, listFlakyTests } from "../../services/flaky-tests.ts";
import { getJobTests, listBuildTests, reportTests } from "../../services/test-reports.ts";
import { describing, get, put, type Route } from "./route.ts";

/** What the tests of jobs said. */
export const TEST_ROUTES: Route[] = [
  put(
    "/job/:id/tests",
    { reportTests },
    describing && {
      tag: "Agent protocol",
      summary: "Report the tests of a job",
      description:
        "`id` is that of the job, or of a build of one job. The last report of a lease counts. Where `failedBefore` has ids of tests that passed in this job, send the same report once more with these in `passed`: then they are flaky.",
      headers: ["Lease"],
      problems: ["lease-lost", "conflict"],
    },
  ),
  get(
    "/build/:id/tests",
    { listBuildTests },
    describing && {
      tag: "Builds",
      summary: "List the tests of a build",
      description:
        "For each job that reported tests: those that failed or were flaky, and the slowest. Reports of more than 3 MiB together come in pages.",
      problems: ["gone"],
    },
  ),
  get(
    "/job/:id/tests",
    { getJobTests },
    describing && {
      tag: "Builds",
      summary: "Get the tests of a job",
      description: "`id` is that of the job, or of a build of one job.",
      problems: ["gone"],
    },
  ),
  get(
    "/repository/:id/flaky",
    { listFlakyTests },
    describing && {
      tag: "Repositories",
      summary: "List the flaky tests of a repository",
      description:
        "Tests that failed and passed on the same commit within 14 days, but for those that were not flaky in the last 5 builds of the default branch.",
    },
  ),
  get(
    "/repository/:id/test/:testId",
    { getTestHistory },
    describing && { tag: "Repositories", summary: "Get the last failures of a test" },
  ),
];
