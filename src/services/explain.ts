import { PathId } from "../protocol/common.ts";
import { Explanation, sentence } from "../protocol/explain.ts";
import { findBuild } from "./builds.ts";
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
