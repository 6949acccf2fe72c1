/** Name of the object that holds an organization's agents and active builds: the one place that a later split of the pool changes. */
export const poolName = (orgId: string): string => orgId;

/** Name of the object that holds the log of a build. */
export const buildLogName = (orgId: string, buildId: string): string => `${orgId}/${buildId}`;
