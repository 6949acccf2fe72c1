/** Name of the object with an organization's agents and active builds; to shard it, change this function. */
export const poolName = (orgId: string): string => orgId;

/** Name of the object that speaks with a git host for a connection. */
export const gitHostName = (orgId: string, connectionId: string): string => `${orgId}/${connectionId}`;

/** Name of the object that holds the log of a job. A first job has the id of its build. */
export const buildLogName = (orgId: string, jobId: string): string => `${orgId}/${jobId}`;
