import { buildLogName, poolName } from "../../src/domain/object-names.ts";
import worker from "../../src/worker.ts";

export { AgentPool, BuildLog } from "../../src/worker.ts";

/** The pool and the log that always fail. */
const LOST = [poolName("stuck"), buildLogName("old", "lost")];

const failing = <N extends { getByName(name: string): unknown }>(real: N): N => {
  const lost = new Proxy({}, { get: () => () => Promise.reject(new Error("Network connection lost.")) });
  return { getByName: (name: string) => (LOST.includes(name) ? lost : real.getByName(name)) } as unknown as N;
};

/** The service, in which one pool and one log are away for upkeep. */
export default {
  fetch: worker.fetch,
  scheduled(event, env, ctx) {
    const faulty = { ...env, AGENT_POOL: failing(env.AGENT_POOL), BUILD_LOG: failing(env.BUILD_LOG) };
    return worker.scheduled(event, faulty, ctx);
  },
} satisfies ExportedHandler<Env>;
