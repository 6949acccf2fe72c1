import type { JobOfBuild } from "../../../src/protocol/build-job.ts";

const AT = "2026-11-22T12:00:00.000Z";
const LATER = "2026-11-22T12:01:04.000Z";

let made = 0;
const newId = (): string => `01900000-0000-7000-8000-${String(++made).padStart(12, "0")}`;

/** Returns a succeeded job from a build with several jobs, with these overrides. */
export const jobRecord = (key: string, more: Partial<JobOfBuild> = {}): JobOfBuild => ({
  id: newId(),
  key,
  definition: key.replace(/ \(.*/s, ""),
  name: key,
  matrix: null,
  needs: [],
  depth: 0,
  status: "succeeded",
  mayFail: false,
  cause: null,
  gate: null,
  agentId: null,
  attempt: 1,
  exitCode: 0,
  reason: null,
  message: null,
  queuedAt: AT,
  startedAt: AT,
  finishedAt: LATER,
  adoptedFrom: null,
  tests: null,
  ...more,
});

/** Returns a job that never ran. */
export const idleJob = (key: string, more: Partial<JobOfBuild> = {}): JobOfBuild =>
  jobRecord(key, {
    status: "waiting",
    attempt: 0,
    exitCode: null,
    queuedAt: null,
    startedAt: null,
    finishedAt: null,
    ...more,
  });

/** Returns a gate that waits for approval, with these overrides. */
export const gateRecord = (more: Partial<NonNullable<JobOfBuild["gate"]>> = {}): NonNullable<JobOfBuild["gate"]> => ({
  message: null,
  by: "maintainer",
  groups: [],
  since: AT,
  until: "2026-11-25T12:00:00.000Z",
  decision: null,
  ...more,
});
