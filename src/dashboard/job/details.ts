import type { Artifact } from "../../protocol/artifact.ts";
import type { BuildJob } from "../../protocol/job-record.ts";
import type { ReadJob } from "../../services/builds/build-view.ts";
import type { FoundBuild } from "../../services/builds/builds.ts";
import type { Failure } from "../../services/builds/failure.ts";
import type { ShownTests } from "../build/read-tests.ts";
import type { Owners } from "../parts/build-name.tsx";
import type { Tab } from "../parts/part-tabs.tsx";

type Told = Pick<BuildJob, "id" | "status" | "attempt" | "tests" | "environment" | "summary">;

/** What the page of a job, or of a build, has below its facts. */
export interface Details extends Owners {
  /** What the page is of. */
  of: Told & Partial<Pick<BuildJob, "outputs">>;
  build: FoundBuild;
  /** The jobs whose tests and artifacts it shows. */
  jobs: ReadJob[];
  now: Date;
  /** The end of the log, for a browser without scripts; null when it was deleted, undefined where there is none. */
  logTail: string | null | undefined;
  /** Attempts before the present one. */
  lost: number;
  /** Why it failed. */
  failure: Failure | null;
  /** The last build before this one that succeeded. */
  green: FoundBuild | null;
  /** What was left so far. */
  artifacts: Artifact[];
}

/** The same with the chosen tab. */
export interface OpenedPage {
  page: string;
  tabs: Tab[];
  tab: string | undefined;
  tests: ShownTests;
  testsPage: string;
  /** The page with the log, empty for this one. */
  logPage: string;
}
