import { AGENT_STATUS, type Agent } from "../protocol/agent.ts";
import { PLATFORM_NAMES, PLATFORM_TITLES } from "../protocol/pipeline.ts";
import { filterByText } from "./components/text-filter.tsx";

const PAGE_LENGTH = 50;

export type AgentState = keyof typeof AGENT_STATUS;
export const AGENT_STATES = ["busy", "idle", "draining", "offline"] as const satisfies AgentState[];
const STATES = Object.keys(AGENT_STATUS) as AgentState[];

export const stateOf = ({ status }: Agent): AgentState => STATES[status] ?? "offline";

export const platformOf = ({ platform }: Agent): string => PLATFORM_TITLES[PLATFORM_NAMES[platform] ?? "other"];

/** What it can build and which labels it has. */
export const capabilitiesOf = ({ canBuildIOS, canBuildAndroid, canBuildWeb, labels }: Agent): string[] => [
  ...(canBuildIOS ? ["iOS"] : []),
  ...(canBuildAndroid ? ["Android"] : []),
  ...(canBuildWeb ? ["web"] : []),
  ...labels,
];

interface AgentSelection {
  /** Of all that match the text, how many are in which state. */
  counts: Map<AgentState, number>;
  shown: Agent[];
  matches: number;
  page: number;
  pages: number;
}

/** One page of the agents that were asked for: who is there before who is away, then by name, so that no row jumps about. */
export const selectAgents = (agents: Agent[], query: URLSearchParams): AgentSelection => {
  const named = filterByText(agents, query, (agent) => [agent.name, platformOf(agent), ...capabilitiesOf(agent)]);
  const counts = new Map(AGENT_STATES.map((state) => [state, 0] as [AgentState, number]));
  for (const agent of named) counts.set(stateOf(agent), (counts.get(stateOf(agent)) ?? 0) + 1);
  const state = query.get("state");
  const wanted = AGENT_STATES.some((each) => each === state) ? named.filter((each) => stateOf(each) === state) : named;
  const sorted = wanted.toSorted(
    (left, right) =>
      Number(right.isOnline) - Number(left.isOnline) || left.name.localeCompare(right.name, "en", { numeric: true }),
  );
  const pages = Math.max(1, Math.ceil(sorted.length / PAGE_LENGTH));
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(query.get("page"))) || 1));
  const shown = sorted.slice((page - 1) * PAGE_LENGTH, page * PAGE_LENGTH);
  return { counts, shown, matches: sorted.length, page, pages };
};
