import { poolName } from "../../domain/object-names.ts";

/** What a git host's object asks the pool: the pool knows that object, which therefore cannot import the pool. */
interface Pool {
  summaryOf(buildId: string): Promise<string | null>;
}

/** What a build of an organization wrote for people; null where it wrote nothing, or is forgotten. */
export const summaryOfBuild = (
  env: Pick<Env, "AGENT_POOL">,
  orgId: string,
  buildId: string,
): Promise<string | null> => {
  const pool = env.AGENT_POOL.getByName(poolName(orgId)) as unknown as Pool;
  return pool.summaryOf(buildId);
};
