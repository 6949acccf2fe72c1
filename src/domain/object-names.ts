/** Name of the object with an organization's agents and active builds; to shard it, change this function. */
export const poolName = (orgId: string): string => orgId;

/** Name of the object that speaks with a git host for a connection. */
export const gitHostName = (orgId: string, connectionId: string): string => `${orgId}/${connectionId}`;

/** Name of the object that holds the log of a job. The job that a build begins with has the id of the build. */
export const buildLogName = (orgId: string, jobId: string): string => `${orgId}/${jobId}`;
