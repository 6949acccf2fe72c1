import type { AgentFacts, BuildFacts, JobFacts } from "../../queue/state/facts.ts";
import { isEarlierBuild, upgradeBuild } from "./earlier-rows.ts";

/** A row whose facts this release cannot read. It must not keep the rest of its organization from being read. */
class UnreadableRow extends Error {}

export const objectIn = (json: string): Record<string, unknown> => {
  const value: unknown = JSON.parse(json);
  if (typeof value !== "object" || value === null) throw new UnreadableRow("it is no object");
  return value as Record<string, unknown>;
};

export const must = (isThere: boolean, what: string): void => {
  if (!isThere) throw new UnreadableRow(`it has no ${what}`);
};

/** A build with its first job, if none took its place. @throws where the row is damaged */
export const parseBuildRow = (facts: string): { build: BuildFacts; first: JobFacts | undefined } => {
  const { job, ...build } = objectIn(facts);
  must(typeof build.id === "string" && typeof build.seq === "number" && typeof build.status === "string", "build");
  const hasJob = typeof job === "object" && job !== null && "requires" in job && "lease" in job;
  if (isEarlierBuild(build)) {
    must(hasJob, "job");
    return upgradeBuild({ version: 0, ...build } as never, job as never);
  }
  must(hasJob || !job, "job");
  return { build: build as unknown as BuildFacts, first: (job as JobFacts | undefined) ?? undefined };
};

/** The fence for which the log of an ended build is closed; 0 where nothing was written into it. */
export const lastFenceOf = ({ build, first }: { build: BuildFacts; first: JobFacts | undefined }): number =>
  build.plannedBy?.fence ?? first?.fence ?? 0;

/** The text of a build's row. */
export const writeBuild = (build: BuildFacts, first: JobFacts | undefined): string =>
  JSON.stringify(first ? { ...build, job: first } : build);

/** @throws where the row is damaged */
export const readAgent = (facts: string): AgentFacts => {
  const agent = objectIn(facts) as unknown as AgentFacts;
  must(typeof agent.id === "string" && typeof agent.tokenHash === "string" && Array.isArray(agent.labels), "agent");
  return agent;
};
