/** What an App asks for, and what lacks without it. Later ones have to be accepted by each owner once more. */
export const APP_PERMISSIONS = {
  metadata: "read",
  contents: "read",
  pull_requests: "read",
  statuses: "write",
  checks: "write",
  merge_queues: "read",
} as const;

/** Deliveries that an App is sent. GitHub sends those of its own installation without being asked. */
export const APP_EVENTS = ["push", "pull_request", "check_run", "check_suite", "merge_group", "repository"] as const;
