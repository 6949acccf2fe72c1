import type { JobOfBuild } from "../../protocol/build-job.ts";

const ORDINALS = ["first", "second", "third"];

/** What people read of a job that was tried more than once in its build; null of any other. */
export const triesOf = ({ status, retries = 0, adoptedFrom }: JobOfBuild): string | null => {
  if (retries === 0 || adoptedFrom !== null) return null;
  const nth = `${ORDINALS[retries] ?? `${retries + 1}th`} try`;
  if (status === "succeeded") return `passed on the ${nth}`;
  if (status === "failed") return `failed on the ${nth} too`;
  return status === "queued" ? `waits for its ${nth}` : nth;
};

/** Whether more attempts were started than its tries explain: agents of the others were lost. */
export const hasLostAttempts = ({ attempt, retries = 0 }: JobOfBuild): boolean => attempt > 1 + retries;
