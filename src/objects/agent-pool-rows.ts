import type { AgentFacts, BuildFacts, JobFacts } from "../domain/pool/facts.ts";

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

/** The facts of a build and of its job. @throws where the row is damaged */
export const readBuild = (facts: string): { build: BuildFacts; job: JobFacts } => {
  const { job, ...build } = objectIn(facts);
  must(typeof build.id === "string" && typeof build.seq === "number" && typeof build.status === "string", "build");
  must(typeof job === "object" && job !== null && "requires" in job && "lease" in job, "job");
  const { id, version = 0 } = build as unknown as BuildFacts;
  return {
    build: { ...(build as unknown as BuildFacts), version },
    job: { ...(job as JobFacts), id: (job as JobFacts).id ?? id, buildId: id },
  };
};

/** The text of a build's row. */
export const writeBuild = (build: BuildFacts, job: JobFacts): string => JSON.stringify({ ...build, job });

/** @throws where the row is damaged */
export const readAgent = (facts: string): AgentFacts => {
  const agent = objectIn(facts) as unknown as AgentFacts;
  must(typeof agent.id === "string" && typeof agent.tokenHash === "string" && Array.isArray(agent.labels), "agent");
  return agent;
};
