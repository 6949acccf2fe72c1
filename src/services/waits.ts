import { toPrometheus } from "../domain/pool/prometheus.ts";
import { PathId } from "../protocol/common.ts";
import { Explanation } from "../protocol/explain.ts";
import { Metrics } from "../protocol/metrics.ts";
import { findBuild } from "./builds.ts";
import type { Context } from "./context.ts";
import { settled } from "./refusal.ts";
import { verb } from "./verb.ts";

/** Why a build waits, agent by agent. */
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

export const readMetrics = verb({
  access: { role: "viewer" },
  output: Metrics,
  run: async (context) => (await context.pool()).metrics(),
});

/** The same as Prometheus scrapes it. */
export const prometheusText = async (context: Context): Promise<string> =>
  toPrometheus(await (await context.pool()).metrics());
