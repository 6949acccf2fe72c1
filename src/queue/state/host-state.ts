import { tagOf } from "../../domain/git-ref.ts";
import type { HostPhase, HostReport, HostState, ToldState } from "../../githosts/core/host-report.ts";
import { isEnded, isQueued } from "../../protocol/build-states.ts";
import type { Requires } from "../../protocol/pipeline.ts";
import { testsInWords } from "../../protocol/test-report.ts";
import { summarizeTests, testsOfJobs } from "../commands/tests.ts";
import type { BuildFacts, JobFacts } from "./facts.ts";
import { awaitsApproval, confinedTo } from "./trust.ts";

/** The description length, in characters, that every git host accepts. */
const MOST_CHARACTERS = 140;

/** Reasons for an end that say nothing about the commit. */
const ERRORS: ReadonlySet<BuildFacts["reason"]> = new Set(["agent-lost", "environment", "agent-error"]);

/** Returns a build's state in the git hosts' terms. */
const toHostState = ({ status, reason, waitsAt }: BuildFacts): HostState => {
  if (!isEnded(status)) return waitsAt?.hostStatus ?? "pending";
  if (status === "succeeded" || reason === "skipped") return "success";
  if (status === "canceled") return "error";
  return reason !== null && ERRORS.has(reason) ? "error" : "failure";
};

/**
 * Reports whether the git host needs an update. It shows that a build waits or runs, that it waits only for people, and
 * its end, but nothing in between. A build that ended at a gate needs an update, because the host shows the text of its
 * wait.
 */
export const isHostDue = (build: BuildFacts): boolean => {
  if (!build.host || build.commitSha === null) return false;
  return !isHeard(build, build.toldHost) || (isEnded(build.status) && !!build.waitsAt);
};

const toPhase = (build: BuildFacts): HostPhase => {
  if (build.waitsAt || awaitsApproval(build)) return "asking";
  return isQueued(build.status) ? "queued" : "running";
};

/** The question that people see when the commit itself waits for them. No job has this index. */
const COMMIT_ASKS = [{ index: 9999, name: "commit" }];

/** Reports whether this state, which the host got, is still correct. */
export const isHeard = (build: BuildFacts, hostState: ToldState | undefined): boolean => {
  return toHostState(build) === hostState || (!isEnded(build.status) && toPhase(build) === hostState);
};

/**
 * Returns the git host's report on a build and its jobs; null if the host gets no report. Planned jobs count at the
 * build's end.
 */
export const toHostReport = (build: BuildFacts, jobs: readonly JobFacts[]): HostReport | null => {
  const { host, commitSha, id, number, version, branch } = build;
  if (!host || commitSha === null) return null;
  // A fork's build keeps its request's full ref, because its branch name would stand for one of our branches.
  const ref = tagOf(branch) ?? branch;
  const description = `${describe(build, jobs)}${describeTests(build, jobs)}`.slice(0, MOST_CHARACTERS);
  const identity = { ...host, buildId: id, number, version, sha: commitSha, ref };
  return { ...identity, state: toHostState(build), description, ...beyondState(build) };
};

/** Returns details that not every host can express as a state. */
const beyondState = (build: BuildFacts): Pick<HostReport, "phase" | "ended" | "asks"> => {
  const { status, reason, waitsAt } = build;
  const asks = awaitsApproval(build) ? COMMIT_ASKS : waitsAt?.asks;
  if (!isEnded(status)) return { phase: toPhase(build), ...(asks && { asks }) };
  if (reason === "skipped") return { ended: "skipped" };
  if (status === "canceled") return { ended: "canceled" };
  return reason === "timeout" ? { ended: "timed-out" } : {};
};

const describe = (build: BuildFacts, jobs: readonly JobFacts[]): string => {
  const { status, reason, waitsAt } = build;
  if (waitsAt && !isEnded(status)) return `${waitsAt.jobs.join(", ")} waits for approval`;
  if (awaitsApproval(build)) return "Its commit waits for approval";
  if (isQueued(status)) return `Waits for an agent${needs(findRequires(build, jobs))}`;
  if (!isEnded(status)) return "Runs";
  if (status === "canceled" && reason === "gate-closed") return "Canceled: nobody approved its commit";
  if (reason && SENTENCES[reason]) return SENTENCES[reason];
  if (status === "succeeded") return `Succeeded${duration(build, "in")}`;
  return status === "canceled" ? "Canceled" : `Failed${duration(build, "after")}`;
};

/** Returns a build's requirements. They include the additions of agents that released the build's first job. */
const findRequires = (build: BuildFacts, jobs: readonly JobFacts[]): Requires =>
  jobs.find(({ id }) => id === build.id)?.requires ?? confinedTo(build.requires, build);

/** Describes the test results of a build that has succeeded or failed. */
const describeTests = ({ status }: BuildFacts, jobs: readonly JobFacts[]): string => {
  if (status !== "succeeded" && status !== "failed") return "";
  const tests = testsOfJobs(jobs.map((job) => ({ tests: summarizeTests(job) })));
  return tests && tests.total > 0 ? `: ${testsInWords(tests)}` : "";
};

const SENTENCES: { [Reason in NonNullable<BuildFacts["reason"]>]?: string } = {
  superseded: "Canceled: a newer commit took its place",
  skipped: "Skipped: no matching file has changed",
  "agent-lost": "Its agent was lost",
  "agent-error": "Its agent had an error",
  environment: "Its environment could not be read",
  timeout: "Failed: it took too long",
  "requirements-unmet": "Failed: no agent can run it",
  "commit-not-on-branch": "Failed: the commit is no longer on its branch",
  "pipeline-invalid": "Failed: its pipeline file is not valid",
  "checkout-failed": "Failed: the commit could not be fetched",
};

/** Describes requirements. Labels contain only characters that a page shows as plain text. */
const needs = ({ platform, labels, ...abilities }: Requires): string => {
  const names = (["ios", "android", "web"] as const).filter((name) => abilities[name]);
  const phrases = labels?.length ? [...names, `label${labels.length > 1 ? "s" : ""} ${labels.join(", ")}`] : names;
  return (platform ? ` on ${platform}` : "") + (phrases.length > 0 ? ` with ${phrases.join(", ")}` : "");
};

const duration = ({ startedAt, finishedAt }: BuildFacts, word: string): string => {
  if (startedAt === null || finishedAt === null || finishedAt < startedAt) return "";
  const seconds = Math.round((finishedAt - startedAt) / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours > 0) return ` ${word} ${hours} h ${minutes % 60} min`;
  return minutes > 0 ? ` ${word} ${minutes} min ${seconds % 60} s` : ` ${word} ${seconds} s`;
};
