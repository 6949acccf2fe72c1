import type { JobOfBuild } from "../../protocol/build-job.ts";
import type { Explanation } from "../../protocol/explain.ts";
import { listAgents } from "../../services/agents.ts";
import { explainJob } from "../../services/build-jobs.ts";
import { findRecord } from "../../services/builds.ts";
import type { Context } from "../../services/core/context.ts";
import { nullIfNotFound } from "../../services/core/refusal.ts";
import { byId, namesById, noInput } from "../verb-input.ts";
import type { JobNames } from "./job-list.tsx";

/** Queued definitions that a page asks the pool about, and earlier builds whose numbers it reads. */
const MOST = { explained: 5, adopted: 5 };

export interface JobDetails extends JobNames {
  /** Why jobs wait that no registered agent can take, by their keys. */
  unable: { key: string; why: Explanation }[];
}

const readNumber = async (context: Context, id: string): Promise<[string, number][]> => {
  const build = await nullIfNotFound(findRecord(context, id));
  return build ? [[id, build.number]] : [];
};

/** One job of each definition that waits for an agent: its combinations usually require the same. */
const waitingForAgents = (jobs: JobOfBuild[]): JobOfBuild[] => {
  const queued = jobs.filter(({ status }) => status === "queued");
  return [...Map.groupBy(queued, ({ definition }) => definition).values()].flatMap(([first]) => first ?? []);
};

const explain = async (context: Context, { id, definition }: JobOfBuild) => {
  const why = await nullIfNotFound(explainJob.run(context, byId(id)));
  return why && (why.code === "no-agents" || why.code === "no-capable-agent") ? [{ key: definition, why }] : [];
};

/** What the page of a build of several jobs tells beside the jobs. */
export const readJobDetails = async (context: Context, jobs: JobOfBuild[]): Promise<JobDetails> => {
  const earlier = [...new Set(jobs.flatMap(({ adoptedFrom }) => adoptedFrom ?? []))].slice(0, MOST.adopted);
  const hasAgents = jobs.some(({ agentId }) => agentId !== null);
  const [agents, numbers, unable] = await Promise.all([
    hasAgents ? listAgents.run(context, noInput) : [],
    Promise.all(earlier.map((id) => readNumber(context, id))),
    Promise.all(
      waitingForAgents(jobs)
        .slice(0, MOST.explained)
        .map((job) => explain(context, job)),
    ),
  ]);
  return {
    now: context.now,
    agents: namesById(agents, ({ name }) => name),
    adopted: new Map(numbers.flat()),
    unable: unable.flat(),
  };
};
