/** Name of the object with an organization's agents and active builds; to shard it, change this function. */
export const poolName = (orgId: string): string => orgId;

/** Name of the object that holds the log of a build. */
export const buildLogName = (orgId: string, buildId: string): string => `${orgId}/${buildId}`;
