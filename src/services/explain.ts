import { PathId } from "../protocol/common.ts";
import { Explanation } from "../protocol/explain.ts";
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
    if (explained.ok || explained.refusal.kind !== "not-found") return settled(explained);
    const { id: buildId, status } = await findBuild(context, params.id);
    return { buildId, status, code: "ended" as const, words: "The build has ended.", ahead: null, agents: [] };
  },
});
