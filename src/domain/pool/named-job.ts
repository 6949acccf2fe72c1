/* While a release is deployed, Workers of one release call objects of the other. Up to 0.13.0 calls of a lease named the job
   as `buildId`: the objects of this release understand that too, and its Workers send both names. */

/** What a Worker sends. */
export const namingJob = <T extends { jobId: string }>(call: T): T & { buildId: string } => ({
  ...call,
  buildId: call.jobId,
});

/** What came from a Worker, or from an object. */
export const namedJob = <T extends { jobId: string }>(call: T & { buildId?: string }): T => ({
  ...call,
  jobId: call.jobId ?? call.buildId,
});
