import { PathId } from "../protocol/common.ts";
import { Explanation, sentence } from "../protocol/explain.ts";
import { findBuild } from "./builds.ts";
import type { Context } from "./core/context.ts";
import { isOfOlderObject } from "./core/outage.ts";
import { settled } from "./core/refusal.ts";
import { verb } from "./core/verb.ts";

/** Why a build waits: overall, and for each agent. */
export const explainBuild = verb({
  access: { role: "viewer" },
  params: PathId,
  output: Explanation,
  async run(context, { params }) {
    const explained = await (await context.pool()).explain(params.id);
    if (explained.ok) return withMessages(explained.value);
    if (explained.refusal.kind !== "not-found") return settled(explained);
    const { id: buildId, status } = await findBuild(context, params.id);
    return { buildId, status, code: "ended" as const, ...sentence("The build has ended."), ahead: null, agents: [] };
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
