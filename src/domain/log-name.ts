/** Name of the object that holds the log of a build. */
export const buildLogName = (orgId: string, buildId: string): string => `${orgId}/${buildId}`;
