import type { JobOfBuild } from "../../protocol/build-job.ts";
import type { Explanation } from "../../protocol/explain.ts";
import { listAgents } from "../../services/agents/agents.ts";
import { plannedJobs } from "../../services/builds/build-view.ts";
import { type FoundBuild, findRecord } from "../../services/builds/builds.ts";
import { explainWait } from "../../services/builds/explain.ts";
import { findLastGreen, readFirstFailure } from "../../services/builds/failure.ts";
import type { Context } from "../../services/core/context.ts";
import { nullIfNotFound } from "../../services/core/refusal.ts";
import { artifactsOf } from "../../services/uploads/artifacts.ts";
import { type UsualTimes, usualTimes } from "../build/usual-times.ts";
import type { Owners } from "../parts/build-name.tsx";
import { byId, namesById, noInput } from "../shell/verb-input.ts";
import type { Details } from "./details.ts";
import type { JobListDetails } from "./job-list.tsx";

/** Queued definitions that a page asks the pool about, and earlier builds whose numbers it reads. */
const MOST = { explained: 5, adopted: 5 };

export interface JobsDetails extends Details, JobListDetails {
  /** How long the last green run and each of its jobs took. */
  usual: UsualTimes;
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
  const why = await nullIfNotFound(explainWait.run(context, byId(id)));
  return why && (why.code === "no-agents" || why.code === "no-capable-agent") ? [{ key: definition, why }] : [];
};

/** What the page of a build shows of its planned jobs. */
export const readJobs = async (context: Context, build: FoundBuild, owners: Owners): Promise<JobsDetails> => {
  const jobs = plannedJobs(build);
  const earlier = [...new Set(jobs.flatMap(({ adoptedFrom }) => adoptedFrom ?? []))].slice(0, MOST.adopted);
  const hasAgents = jobs.some(({ agentId }) => agentId !== null);
  const [agents, numbers, unable, failure, green, artifacts] = await Promise.all([
    hasAgents ? listAgents.run(context, noInput) : [],
    Promise.all(earlier.map((id) => readNumber(context, id))),
    Promise.all(
      waitingForAgents(jobs)
        .slice(0, MOST.explained)
        .map((job) => explain(context, job)),
    ),
    readFirstFailure(context, build),
    findLastGreen(context, build),
    artifactsOf(context, build),
  ]);
  const ran = (green ? plannedJobs(green) : []).filter(({ adoptedFrom }) => adoptedFrom === null);
  return {
    ...{ of: build, build, now: context.now, ...owners, failure, green, artifacts, logTail: undefined },
    jobs: jobs.map((job) => (job.id === failure?.job.id ? failure.job : job)),
    lost: build.attempt - 1,
    usual: usualTimes(
      green,
      ran.map(({ key: name, startedAt, finishedAt }) => ({ name, startedAt, finishedAt })),
    ),
    agents: namesById(agents, ({ name }) => name),
    adopted: new Map(numbers.flat()),
    unable: unable.flat(),
  };
};
