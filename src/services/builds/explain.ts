import { PathId } from "../../protocol/common.ts";
import { Explanation, sentence } from "../../protocol/explain.ts";
import type { Context } from "../core/context.ts";
import { settled } from "../core/refusal.ts";
import { verb } from "../core/verb.ts";
import { findRecordOf } from "./builds.ts";

/** Why a build, or a job, waits: its needs, its gate, what is before it, and each agent. */
export const explainWait = verb({
  access: { role: "viewer" },
  params: PathId,
  output: Explanation,
  async run(context, { params: { id } }) {
    const explained = await (await context.pool()).explain(id);
    if (explained.ok) return explained.value;
    if (explained.refusal.kind !== "not-found") return settled(explained);
    const build = await findRecordOf(context, id);
    const { status } = build.jobs.find((job) => job.id === id) ?? build;
    const message = `The ${build.id === id ? "build" : "job"} has ended.`;
    return { buildId: id, status, code: "ended" as const, ...sentence(message), ahead: null, agents: [] };
  },
});

/** Why each of these builds waits, in a sentence, by its id: of those that wait in the queue. */
export const whyEach = async (context: Context, buildIds: string[]): Promise<Map<string, string>> => {
  return buildIds.length === 0 ? new Map() : (await context.pool()).whyEach(buildIds);
};
