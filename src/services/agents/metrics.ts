import { Metrics } from "../../protocol/metrics.ts";
import type { PoolNow } from "../../protocol/pool-now.ts";
import { toPrometheus } from "../../queue/metrics/prometheus.ts";
import type { Context } from "../core/context.ts";
import { verb } from "../core/verb.ts";

export const jsonMetrics = verb({
  access: { role: "viewer" },
  output: Metrics,
  run: async (context) => (await context.pool()).metrics(),
});

/** The metrics as text for Prometheus. */
export const prometheusText = async (context: Context): Promise<string> =>
  toPrometheus(await (await context.pool()).metrics());

/** A page does not wait longer than this for a count beside it. */
const PATIENCE_MS = 500;

const ask = async (context: Context): Promise<PoolNow | null> => {
  const pool = await context.pool();
  const { role } = context.admitted;
  return role && pool.now(role);
};

/** What runs and waits now. Null where the pool does not answer, or the caller is not admitted: no page fails for it. */
export const poolNow = async (context: Context): Promise<PoolNow | null> => {
  const patience = new Promise<null>((resolve) => setTimeout(() => resolve(null), PATIENCE_MS));
  return Promise.race([ask(context).catch(() => null), patience]);
};
