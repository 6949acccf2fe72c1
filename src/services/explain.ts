import { PathId } from "../protocol/common.ts";
import { Explanation, sentence } from "../protocol/explain.ts";
import { findJob } from "./build-jobs.ts";
import { findRecord } from "./builds.ts";
import type { Context } from "./core/context.ts";
import { isOfOlderObject } from "./core/outage.ts";
import { nullIfNotFound, settled } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";

/** Why a build, or a job, waits: its needs, its gate, what is before it, and each agent. */
export const explainWait = verb({
  access: { role: "viewer" },
  params: PathId,
  output: Explanation,
  async run(context, { params: { id } }) {
    const explained = await (await context.pool()).explain(id);
    if (explained.ok) return withMessages(explained.value);
    if (explained.refusal.kind !== "not-found") return settled(explained);
    const build = await nullIfNotFound(findRecord(context, id));
    const { status } = build ?? (await findJob(context, id));
    const message = `The ${build ? "build" : "job"} has ended.`;
    return { buildId: id, status, code: "ended" as const, ...sentence(message), ahead: null, agents: [] };
  },
});

/** Why each of these builds waits, in a sentence, by its id: of those that wait in the queue. */
export const whyEach = async (context: Context, buildIds: string[]): Promise<Map<string, string>> => {
  if (buildIds.length === 0) return new Map();
  try {
    return await (await context.pool()).whyEach(buildIds);
  } catch (error) {
    if (isOfOlderObject(error)) return new Map();
    throw error;
  }
};

/** Adds `message` to the answer of a pool that still runs the release before it: goes with the next release. */
export const withMessages = (explanation: Explanation): Explanation =>
  explanation.message !== undefined
    ? explanation
    : {
        ...explanation,
        ...sentence(explanation.words),
        groups: explanation.groups?.map((group) => ({ ...group, ...sentence(group.words) })),
        agents: explanation.agents.map((agent) => ({ ...agent, ...sentence(agent.words) })),
      };
