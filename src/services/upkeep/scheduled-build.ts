import { v7 as uuid } from "uuid";
import type { pipeline, repository, schedule } from "../../db/schema.ts";
import { branchOf } from "../../domain/git-ref.ts";
import { hostTargetOf } from "../../domain/githost/host-target.ts";
import type { NewBuild } from "../../domain/pool/commands.ts";
import { inputsContext } from "../../domain/seal-context.ts";
import type { Keys } from "../core/keys.ts";
import { openScheduled } from "../scheduled-values.ts";

type Pipeline = typeof pipeline.$inferSelect;
type Repository = typeof repository.$inferSelect;

/** A schedule whose time has come, with what its builds are of; their fields are null where that is gone. */
export interface Due
  extends Pick<Pipeline, "repoId" | "requires" | "timeoutSeconds" | "maxParallel" | "maxAttempts" | "hostContext">,
    Pick<Repository, "defaultBranch" | "connectionId" | "gitHostRepoId" | "fullName"> {
  schedule: typeof schedule.$inferSelect;
  /** 1 where the pipeline and its repository are active. */
  mayBuild: number | null;
  pipelineVersion: number;
  pipelineName: string;
}

/** The build of a schedule's time has the same id whenever it is made: so the pool knows it, also after days. */
const buildIdAt = async (key: string, at: number): Promise<string> => {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return uuid({ msecs: at, random: new Uint8Array(hash).subarray(0, 16) });
};

/** The values of the run, sealed for the build. @throws Damaged; Refusal keyring-unavailable */
const inputsOf = async (keys: Keys, { schedule }: Due, buildId: string): Promise<string | null> => {
  if (schedule.envVariables === null) return null;
  const values = await openScheduled(keys, schedule, schedule.envVariables);
  return keys.seal(JSON.stringify(values), inputsContext(schedule.orgId, buildId));
};

/**
 * The build of a schedule for one of its times, in milliseconds since 1970; null where nothing may be built.
 * @throws Damaged; Refusal keyring-unavailable
 */
export const buildAt = async (keys: Keys, due: Due, at: number): Promise<NewBuild | null> => {
  if (due.mayBuild !== 1) return null;
  const { id: scheduleId, orgId, pipelineId, name, ref } = due.schedule;
  const caller = `schedule:${scheduleId}`;
  const key = `${caller}:${new Date(at).toISOString()}`;
  const id = await buildIdAt(key, at);
  const { repoId, pipelineVersion, requires, timeoutSeconds, maxParallel, maxAttempts } = due;
  return {
    ...{ id, orgId, repoId, pipelineId, pipelineVersion, requires, timeoutSeconds, maxParallel, maxAttempts },
    branch: ref === null ? due.defaultBranch : branchOf(ref),
    commitSha: null,
    trigger: "api",
    priority: 0,
    inputs: await inputsOf(keys, due, id),
    secretKeys: [],
    retryOf: null,
    createdBy: { kind: "schedule", id: scheduleId, name },
    origin: {
      ...{ event: "schedule", before: null, pull: null, commit: null, schedule: name, paths: null, purpose: "build" },
    },
    host: hostTargetOf(due, { name: due.pipelineName, hostContext: due.hostContext }, "schedule", null),
    // The same whatever changed in the schedule meanwhile: a repeat of the time is the same build.
    idempotency: { key, caller, bodyHash: "" },
    actor: { actor: caller, requestId: null },
  };
};
