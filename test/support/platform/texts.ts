/** D1's messages about its own problems: https://developers.cloudflare.com/d1/observability/debug-d1/. */
export const D1 = {
  overloaded: "D1 DB is overloaded. Requests queued for too long.",
  tooMany: "D1 DB is overloaded. Too many requests queued.",
  updated: "D1 DB reset because its code was updated.",
  timedOut: "D1 DB storage operation exceeded timeout which caused object to be reset.",
  cpu: "D1 DB exceeded its CPU time limit and was reset.",
  memory: "D1 DB's isolate exceeded its memory limit and was reset.",
  starting: "Internal error while starting up D1 DB storage caused object to be reset.",
  storage: "Internal error in D1 DB storage caused object to be reset.",
  unresolved: "Cannot resolve D1 DB due to transient issue on remote node.",
  disconnected: "Can't read from request stream because client disconnected.",
  lost: "Network connection lost.",
  full: "Exceeded maximum DB size.",
  account:
    "Your account has exceeded D1's maximum account storage limit, please contact Cloudflare to raise your limit.",
  importing: "Currently processing a long-running import.",
  exporting: "Currently processing a long-running export.",
} as const;

/** R2's messages: https://developers.cloudflare.com/r2/api/error-codes/. */
export const R2 = { internal: "We encountered an internal error. Please try again. (10001)" } as const;

/** Messages of objects: https://developers.cloudflare.com/durable-objects/observability/troubleshooting/. */
export const OBJECT = {
  overloaded: "Durable Object is overloaded. Requests queued for too long.",
  lost: "Network connection lost.",
  reset: "Durable Object reset because its code was updated.",
} as const;
