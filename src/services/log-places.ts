import { dayOf } from "../archive/keys.ts";
import type { LogOwner } from "../archive/logs.ts";
import type { Build } from "../protocol/build.ts";
import type { Context } from "./core/context.ts";

/** Milliseconds after its end from which on a build's log is looked for in the archive first. */
const MOVED_AFTER = 60 * 60_000;

/** What of a build, or of a job, says where its log is. */
export type Logged = Pick<Build, "id" | "orgId" | "finishedAt" | "attempt"> & { isLogDeleted?: boolean };

/** Whose log it is in the archive; null for a build that has not ended. */
export const ownerOf = ({ id, orgId, finishedAt }: Pick<Logged, "id" | "orgId" | "finishedAt">): LogOwner | null =>
  finishedAt === null ? null : { day: dayOf(Date.parse(finishedAt)), orgId, jobId: id };

/** Whether the log is looked for in the archive first. */
export const isLongEnded = ({ now }: Context, { finishedAt }: Pick<Logged, "finishedAt">): boolean =>
  finishedAt !== null && now.getTime() - Date.parse(finishedAt) > MOVED_AFTER;
