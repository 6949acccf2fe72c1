import { calling, poolName } from "../domain/durable-objects.ts";

/**
 * The pool's methods that the objects of logs and git hosts call. These objects cannot import the pool's class, because
 * the pool imports them.
 */
export interface PoolCalls {
  /**
   * Returns the Markdown that a build wrote for people. Returns null if the build wrote nothing, or if the pool forgot
   * it.
   */
  summaryOf(buildId: string): Promise<string | null>;
  /** Notifies the job's agent that somebody began to follow its log. */
  followed(job: { jobId: string }): Promise<void>;
}

/** Returns the pool of an organization. */
export const openPool = (env: Pick<Env, "AGENT_POOL">, orgId: string): PoolCalls =>
  calling<PoolCalls>(env.AGENT_POOL.getByName(poolName(orgId)));
