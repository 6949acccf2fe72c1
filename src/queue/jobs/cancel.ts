import { LIMITS } from "../../protocol/limits.ts";
import type { BuildFacts } from "../state/facts.ts";
import type { BuildCancel } from "./rules.ts";

/** Milliseconds for which jobs that clean up may run after their build was canceled. */
export const CLEAN_UP_MS = 5 * 60 * 1000;

/** The cancel that holds for a build now; its own deadline is one too. */
export const cancelOf = ({ cancel, until }: Pick<BuildFacts, "cancel" | "until">, now: number): BuildCancel | null => {
  if (cancel && (until === null || cancel.at <= until)) return { ...cancel, isTimeout: false };
  if (until === null || now < until) return null;
  const byDeadline = until + CLEAN_UP_MS;
  return { at: until, until: cancel ? Math.min(byDeadline, cancel.until) : byDeadline, isTimeout: true };
};

export const TOO_LONG = `The build ran for longer than ${LIMITS.buildDays} days.`;
