import { toPrometheus } from "../domain/pool/prometheus.ts";
import { Metrics } from "../protocol/metrics.ts";
import type { Context } from "./core/context.ts";
import { verb } from "./core/verb.ts";

export const jsonMetrics = verb({
  access: { role: "viewer" },
  output: Metrics,
  run: async (context) => (await context.pool()).metrics(),
});

/** The metrics as text for Prometheus. */
export const prometheusText = async (context: Context): Promise<string> =>
  toPrometheus(await (await context.pool()).metrics());
