import { calling, poolName } from "../domain/durable-objects.ts";

/** What the objects of logs and of git hosts call of the pool. It imports them, so they cannot import its class. */
export interface PoolCalls {
  /** What a build wrote for people, in Markdown; null where it wrote nothing, or is forgotten. */
  summaryOf(buildId: string): Promise<string | null>;
  /** Tells the agent of the job that somebody began to follow its log. */
  followed(job: { jobId: string }): Promise<void>;
}

/** The pool of an organization. */
export const openPool = (env: Pick<Env, "AGENT_POOL">, orgId: string): PoolCalls =>
  calling<PoolCalls>(env.AGENT_POOL.getByName(poolName(orgId)));
