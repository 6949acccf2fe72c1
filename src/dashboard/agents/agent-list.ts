import { AGENT_STATUS, type Agent } from "../../protocol/agent.ts";
import { PLATFORM_NAMES, PLATFORM_TITLES } from "../../protocol/pipeline.ts";
import { DAY_MS } from "../../protocol/units.ts";
import { VERSION } from "../../protocol/version.ts";
import { filterByText } from "../parts/list-filter.tsx";

const PAGE_LENGTH = 50;
const GONE_MS = 7 * DAY_MS;

export type AgentState = keyof typeof AGENT_STATUS;
/** The states, in the order in which the page counts them. */
export const AGENT_STATES = ["busy", "idle", "draining", "offline"] as const satisfies AgentState[];
const STATE_BY_STATUS = Object.keys(AGENT_STATUS) as AgentState[];

export const agentStateOf = ({ status }: Agent): AgentState => STATE_BY_STATUS[status] ?? "offline";

export const platformTitle = ({ platform }: Pick<Agent, "platform">): string => {
  const name = PLATFORM_NAMES[platform] ?? "other";
  return name === "other" ? "Other platform" : PLATFORM_TITLES[name];
};

/** Lists the platforms that the agent can build, then its labels. */
export const listCapabilities = ({ canBuildIOS, canBuildAndroid, canBuildWeb, labels }: Agent): string[] => [
  ...(canBuildIOS ? ["iOS"] : []),
  ...(canBuildAndroid ? ["Android"] : []),
  ...(canBuildWeb ? ["web"] : []),
  ...labels,
];

/**
 * Reports whether a version such as `0.9.0` is older than another version. A text in another format does not count as
 * older.
 */
export const isOlder = (version: string | null, than = VERSION): boolean => {
  const [left, right] = [version ?? "", than].map((text) => /^(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number));
  const at = left?.findIndex((part, index) => part !== right?.[index]) ?? -1;
  return at >= 0 && left![at]! < (right?.[at] ?? 0);
};

export interface AgentSelection {
  /** The number of all agents, whatever the filters. */
  total: number;
  /** The number of agents in each state, among all agents that match the text filter. */
  counts: Map<AgentState, number>;
  /** The number of these agents whose program is older than the service. */
  older: number;
  /** The agents on this page. */
  rows: Agent[];
  /** Agents that sent no heartbeat for a week, the latest first. They do not appear on this or any other page. */
  longGone: Agent[];
  /** The number of agents that match all filters. */
  matches: number;
  page: number;
  pages: number;
}

/** Sorts online agents first, then by name. Sorting by state would move the rows whenever states change. */
const compareAgents = (left: Agent, right: Agent): number =>
  Number(right.isOnline) - Number(left.isOnline) || left.name.localeCompare(right.name, "en", { numeric: true });

/**
 * Filters and sorts the agents by the fields of the address (`q`, `state`, `version`, `page`). A page number beyond the
 * end selects the last page. The filter for offline agents includes all offline agents.
 */
export const selectAgents = (agents: Agent[], query: URLSearchParams, now: Date): AgentSelection => {
  const agentsWithText = filterByText(agents, query, (agent) => [
    agent.name,
    platformTitle(agent),
    ...listCapabilities(agent),
  ]);
  const counts = new Map(AGENT_STATES.map((state) => [state, 0] as [AgentState, number]));
  for (const agent of agentsWithText) counts.set(agentStateOf(agent), (counts.get(agentStateOf(agent)) ?? 0) + 1);
  const older = agentsWithText.filter(({ version }) => isOlder(version));
  const state = AGENT_STATES.find((each) => each === query.get("state"));
  const candidates = query.get("version") === "older" ? older : agentsWithText;
  const matching = state ? candidates.filter((agent) => agentStateOf(agent) === state) : candidates;
  const isGone = ({ isOnline, lastHeartbeatAt }: Agent) =>
    !isOnline && state !== "offline" && now.getTime() - Date.parse(lastHeartbeatAt) > GONE_MS;
  const listed = matching.filter((agent) => !isGone(agent));
  const longGone = matching
    .filter(isGone)
    .sort((left, right) => right.lastHeartbeatAt.localeCompare(left.lastHeartbeatAt));
  const pages = Math.max(1, Math.ceil(listed.length / PAGE_LENGTH));
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(query.get("page"))) || 1));
  const agentsOnPage = listed.sort(compareAgents).slice((page - 1) * PAGE_LENGTH, page * PAGE_LENGTH);
  return {
    total: agents.length,
    counts,
    older: older.length,
    rows: agentsOnPage,
    longGone,
    matches: matching.length,
    page,
    pages,
  };
};
