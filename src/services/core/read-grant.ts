import type { Context } from "./context.ts";
import type { GrantFacts } from "./grants.ts";
import { Refusal } from "./refusal.ts";

type OfAgents = "upload" | "download" | "cache-read" | "cache-write";

const UNKNOWN = "The grant is not one that was given for this.";

/** What an agent is told whose grant is genuine, but for something else. */
const OTHER: Record<OfAgents, string> = {
  upload: "The grant is for another artifact, or for another agent.",
  download: "The grant is for another agent.",
  "cache-read": UNKNOWN,
  "cache-write": "The grant is for another entry, or for another agent.",
};

/**
 * What a grant allows the agent that calls, if it is for just this.
 * @throws Refusal forbidden, the same for a forged and an altered one
 */
export const readGrant = async <K extends OfAgents>(
  context: Context,
  granted: K,
  grant: string | null,
  wanted: { jobId?: string; id?: string } = {},
): Promise<GrantFacts[K]> => {
  const { kind, tokenHash, orgId } = context.caller;
  if (kind !== "agent") await context.admit();
  const facts = await context.keys.grants.read(granted, grant ?? "");
  if (!facts) throw new Refusal("forbidden", UNKNOWN);
  if (context.now.getTime() >= facts.until)
    throw new Refusal("forbidden", "The grant has expired: ask for another one.");
  return grantFor(granted, facts, { orgId, tokenHash, ...wanted });
};

/** @throws Refusal forbidden where the grant names anything else than this */
export const grantFor = <K extends OfAgents>(
  granted: K,
  facts: GrantFacts[K] | undefined,
  wanted: object,
): GrantFacts[K] => {
  const isSame = Object.entries(wanted).every(([name, value]) => facts?.[name as keyof GrantFacts[K]] === value);
  if (!facts || !isSame) throw new Refusal("forbidden", OTHER[granted]);
  return facts;
};
