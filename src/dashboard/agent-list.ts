import { AGENT_STATUS, type Agent } from "../protocol/agent.ts";
import { PLATFORM_NAMES, PLATFORM_TITLES } from "../protocol/pipeline.ts";
import { filterByText } from "./components/text-filter.tsx";

const PAGE_LENGTH = 50;

export type AgentState = keyof typeof AGENT_STATUS;
/** In the order in which the page counts them. */
export const AGENT_STATES = ["busy", "idle", "draining", "offline"] as const satisfies AgentState[];
const STATE_BY_STATUS = Object.keys(AGENT_STATUS) as AgentState[];

export const stateOf = ({ status }: Agent): AgentState => STATE_BY_STATUS[status] ?? "offline";

export const platformOf = ({ platform }: Agent): string => PLATFORM_TITLES[PLATFORM_NAMES[platform] ?? "other"];

/** What the agent can build, then its labels. */
export const capabilitiesOf = ({ canBuildIOS, canBuildAndroid, canBuildWeb, labels }: Agent): string[] => [
  ...(canBuildIOS ? ["iOS"] : []),
  ...(canBuildAndroid ? ["Android"] : []),
  ...(canBuildWeb ? ["web"] : []),
  ...labels,
];

interface AgentSelection {
  /** Agents in each state, of all that match the text filter. */
  counts: Map<AgentState, number>;
  /** The agents of this page. */
  shown: Agent[];
  /** How many match all filters. */
  matches: number;
  page: number;
  pages: number;
}

/** Online agents first. By name and not by state, so that rows keep their places while states change. */
const compareAgents = (left: Agent, right: Agent): number =>
  Number(right.isOnline) - Number(left.isOnline) || left.name.localeCompare(right.name, "en", { numeric: true });

/** Filters and sorts the agents as the address asks (`q`, `state`, `page`). A page beyond the last is the last. */
export const selectAgents = (agents: Agent[], query: URLSearchParams): AgentSelection => {
  const named = filterByText(agents, query, (agent) => [agent.name, platformOf(agent), ...capabilitiesOf(agent)]);
  const counts = new Map(AGENT_STATES.map((state) => [state, 0] as [AgentState, number]));
  for (const agent of named) counts.set(stateOf(agent), (counts.get(stateOf(agent)) ?? 0) + 1);
  const state = AGENT_STATES.find((each) => each === query.get("state"));
  const matching = state ? named.filter((agent) => stateOf(agent) === state) : named;
  const pages = Math.max(1, Math.ceil(matching.length / PAGE_LENGTH));
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(query.get("page"))) || 1));
  const shown = matching.toSorted(compareAgents).slice((page - 1) * PAGE_LENGTH, page * PAGE_LENGTH);
  return { counts, shown, matches: matching.length, page, pages };
};
