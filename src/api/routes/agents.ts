import { deleteAgent, getAgent, listAgents, updateAgent } from "../../services/agents.ts";
import { readMetrics } from "../streams.ts";
import { describing, get, type Route, remove, update } from "./route.ts";

export const AGENT_ROUTES: Route[] = [
  get("/buildagent", { listAgents }, describing && { tag: "Agents", summary: "List agents" }),
  get(
    "/buildagent/metrics",
    { readMetrics },
    describing && {
      tag: "Agents",
      summary: "Show how many builds wait, for which agents, and for how long",
      description: "As JSON, or with `Accept: text/plain` as Prometheus scrapes it.",
      text: { types: ["text/plain"] },
    },
  ),
  get("/buildagent/:id", { getAgent }, describing && { tag: "Agents", summary: "Show an agent" }),
  update(
    "/buildagent/:id",
    { updateAgent },
    describing && {
      tag: "Agents",
      summary: "Change an agent, or drain it",
      description:
        "An agent's own token may change its name and version alone: what it was registered with bounds it until a maintainer says otherwise.",
    },
  ),
  remove(
    "/buildagent/:id",
    { deleteAgent },
    describing && {
      tag: "Agents",
      summary: "Remove an agent",
      description: "Nothing of it is accepted any more, and its build is free for another at once.",
    },
  ),
];
