import { toPrometheus } from "../domain/pool/prometheus.ts";
import { Metrics } from "../protocol/metrics.ts";
import type { Context } from "./core/context.ts";
import { verb } from "./core/verb.ts";

/** A pool that still runs the release before `deadLetters` answers `parked` alone: goes with the next release. */
const poolMetrics = async (context: Context): Promise<Metrics> => {
  const metrics = await (await context.pool()).metrics();
  const { outbox } = metrics;
  return { ...metrics, outbox: { ...outbox, deadLetters: outbox.deadLetters ?? outbox.parked } };
};

export const jsonMetrics = verb({
  access: { role: "viewer" },
  output: Metrics,
  run: poolMetrics,
});

/** The metrics as text for Prometheus. */
export const prometheusText = async (context: Context): Promise<string> => toPrometheus(await poolMetrics(context));
