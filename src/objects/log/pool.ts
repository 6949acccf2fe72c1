import { calling, poolName } from "../../domain/durable-objects.ts";
import { log } from "../../log.ts";

/** What a log says to its organization's pool. */
interface Pool {
  followed(of: { jobId: string }): Promise<void>;
}

/** Tells the agent of a log, through its pool, that somebody began to follow. A lost word costs only time. */
export const tellOfFollower = async (env: Env, orgId: string, jobId: string): Promise<void> => {
  try {
    const pool = calling(env.AGENT_POOL.getByName(poolName(orgId)) as unknown as Pool);
    await pool.followed({ jobId });
  } catch (error) {
    log.warn("log.follower_unannounced", { orgId, jobId, error });
  }
};
