import { isQueued } from "../../protocol/build-states.ts";
import type { Role } from "../../protocol/token.ts";
import type { BuildFacts } from "../state/facts.ts";

/** The role that approves the commit of a stranger. */
export const APPROVER = "member" satisfies Role;

/** Whether it waits for approval: until then it is in no queue, and nobody runs it. */
export const isHeld = ({ approval, status }: BuildFacts): boolean =>
  !!approval && !approval.decision && isQueued(status);

/** When a held build ends without a decision; null for any other. Milliseconds since 1970. */
export const heldUntil = (build: BuildFacts): number | null => (isHeld(build) ? build.approval!.until : null);
