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
      summary: "Get the metrics of the queue and the agents",
      description:
        "How many builds wait, for which agents, and for how long. JSON, or the Prometheus text format with `Accept: text/plain`.",
      text: { types: ["text/plain"] },
    },
  ),
  get("/buildagent/:id", { getAgent }, describing && { tag: "Agents", summary: "Get an agent" }),
  update(
    "/buildagent/:id",
    { updateAgent },
    describing && {
      tag: "Agents",
      summary: "Update or drain an agent",
      description:
        "An agent's own token may change its name and version only. Other fields keep the values of the registration until a maintainer changes them.",
    },
  ),
  remove(
    "/buildagent/:id",
    { deleteAgent },
    describing && {
      tag: "Agents",
      summary: "Remove an agent",
      description: "The agent's token stops working, and its build returns to the queue.",
    },
  ),
];
