/** Name of the object that holds an organization's agents and live builds: the one seam for sharding it later. */
export const poolName = (orgId: string): string => orgId;

/** Name of the object that holds the log of a build. */
export const buildLogName = (orgId: string, buildId: string): string => `${orgId}/${buildId}`;
