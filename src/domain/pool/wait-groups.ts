import type { AgentCode, Explanation } from "../../protocol/explain.ts";
import type { Reason } from "../requires.ts";

/** Reasons that pass by themselves; with any other the agent will never take the build as both are now. */
const PASSING: readonly AgentCode[] = ["offline", "busy", "draining", "unresponsive"];

export const isPassing = (code: AgentCode): boolean => PASSING.includes(code);

/** What keeps an agent from the build for good, or, where nothing does, what does for now. */
const binding = (reasons: Reason[]): Reason[] => {
  const lasting = reasons.filter(({ code }) => !isPassing(code));
  return lasting.length > 0 ? lasting : reasons;
};

const sentence = (reasons: Reason[], agents: number, online: number): string => {
  const who = agents === 1 ? "1 agent" : `${agents.toLocaleString("en")} agents`;
  const why = binding(reasons).map(({ phrase, pluralPhrase }) => (agents === 1 ? phrase : pluralPhrase));
  const isTold = why.length === 0 || reasons.every(({ code }) => isPassing(code));
  const told = isTold
    ? ""
    : ` (${agents === 1 ? (online === 1 ? "online" : "offline") : `${online.toLocaleString("en")} of them online`})`;
  return `${who} ${why.length === 0 ? "could take it now" : why.join(", ")}${told}.`;
};

/** Agents that the same keeps from the build, together: those nearest to taking it first, then the many. */
export const groupWaits = (each: Reason[][]): NonNullable<Explanation["groups"]> => {
  const groups = Map.groupBy(each, (reasons) => JSON.stringify(binding(reasons).map(({ phrase }) => phrase)));
  return [...groups.values()]
    .map((alike) => {
      const reasons = alike[0] ?? [];
      const online = alike.filter((those) => those.every(({ code }) => code !== "offline")).length;
      const codes = binding(reasons).map(({ code }) => code);
      return { codes, agents: alike.length, online, words: sentence(reasons, alike.length, online) };
    })
    .sort((left, right) => {
      const lasting = ({ codes }: { codes: AgentCode[] }) => codes.filter((code) => !isPassing(code)).length;
      return lasting(left) - lasting(right) || right.agents - left.agents;
    });
};
