import { isPlanned } from "./check-state.ts";
import { ACTOR, type Simulator } from "./simulator.ts";
import { isEnded } from "./specification.ts";

const ROLES = ["viewer", "member", "maintainer", "admin"] as const;

/** Somebody answers a gate, mostly one that asks. They may lack the permission. */
export const decideGate = (simulator: Simulator): void => {
  const { random, pool, isHealing } = simulator;
  const planned = [...pool.storage.rows.jobs.values()].filter(isPlanned);
  if (planned.length === 0) return;
  const isAgain = !isHealing && random.chance(0.25);
  const asking = planned.filter(({ gate, end }) => gate && !end && (isAgain || !gate.decision));
  if (isHealing && asking.length === 0) return;
  const job = asking.length > 0 && (isHealing || random.chance(0.85)) ? random.pick(asking) : random.pick(planned);
  simulator.request("decideGate", {
    id: !isHealing && random.chance(0.2) ? job.buildId : job.id,
    approved: random.chance(0.75),
    comment: random.chance(0.5) ? "as agreed" : null,
    role: isHealing ? "admin" : random.pick(ROLES),
    name: "somebody",
    actor: ACTOR,
  });
};

/** Somebody cancels one job of a build. */
export const cancelJob = (simulator: Simulator): void => {
  const { random, pool } = simulator;
  const ids = [...pool.storage.rows.jobs.values()].flatMap((job) => (job.end || !isPlanned(job) ? [] : [job.id]));
  if (ids.length === 0 || !simulator.injectFault("cancel", 1)) return;
  simulator.request("cancel", { buildId: random.pick(ids), actor: ACTOR });
};

/** Somebody does not wait for the cleanup. */
export const cancelAgain = (simulator: Simulator): void => {
  const { random, pool } = simulator;
  const canceled = [...pool.storage.rows.builds.values()].filter(({ cancel, status }) => cancel && !isEnded(status));
  if (canceled.length === 0 || !simulator.injectFault("cancel", 1)) return;
  simulator.request("cancel", { buildId: random.pick(canceled).id, actor: ACTOR });
};
