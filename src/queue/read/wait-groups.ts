import type { Reason } from "../../domain/requires.ts";
import { type AgentCode, type Explanation, sentence } from "../../protocol/explain.ts";

/** Reasons that end without a change of the agent or the build. */
const TEMPORARY: readonly AgentCode[] = ["offline", "busy", "draining", "unresponsive"];

export const isTemporary = (code: AgentCode): boolean => TEMPORARY.includes(code);

const countPermanent = (codes: readonly AgentCode[]): number => codes.filter((code) => !isTemporary(code)).length;

/** The permanent reasons, or, where there are none, the temporary ones. */
const decisive = (reasons: Reason[]): Reason[] => {
  const permanent = reasons.filter(({ code }) => !isTemporary(code));
  return permanent.length > 0 ? permanent : reasons;
};

const messageFor = (reasons: Reason[], agents: number, online: number): string => {
  const subject = agents === 1 ? "1 agent" : `${agents.toLocaleString("en")} agents`;
  if (reasons.length === 0) return `${subject} could take it now.`;
  const phrases = decisive(reasons).map(({ phrase, pluralPhrase }) => (agents === 1 ? phrase : pluralPhrase));
  const status = countPermanent(reasons.map(({ code }) => code)) > 0 ? ` (${onlineStatus(agents, online)})` : "";
  return `${subject} ${phrases.join(", ")}${status}.`;
};

const onlineStatus = (agents: number, online: number): string => {
  if (agents > 1) return `${online.toLocaleString("en")} of them online`;
  return online === 1 ? "online" : "offline";
};

/** Groups agents by their decisive reasons: those with the fewest permanent reasons first, then the largest group. */
export const groupWaits = (reasonsByAgent: Reason[][]): NonNullable<Explanation["groups"]> => {
  const groups = Map.groupBy(reasonsByAgent, (reasons) =>
    JSON.stringify(decisive(reasons).map(({ phrase }) => phrase)),
  );
  return [...groups.values()]
    .map((members) => {
      const reasons = members[0] ?? [];
      const online = members.filter((each) => each.every(({ code }) => code !== "offline")).length;
      const codes = decisive(reasons).map(({ code }) => code);
      const message = messageFor(reasons, members.length, online);
      return { codes, agents: members.length, online, ...sentence(message) };
    })
    .sort((left, right) => countPermanent(left.codes) - countPermanent(right.codes) || right.agents - left.agents);
};
