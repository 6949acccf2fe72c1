import { registerAgent } from "../../services/agents.ts";
import { finishBuild, heartbeat, releaseBuild, reportProgress, startBuild } from "../../services/jobs.ts";
import { pollForJob, writeLog } from "../streams.ts";
import { act, create, describing, get, put, type Route, report } from "./route.ts";

export const AGENT_PROTOCOL_ROUTES: Route[] = [
  create(
    "/buildagent/register",
    "/buildagent/:id",
    { registerAgent },
    describing && {
      tag: "Agent protocol",
      summary: "Register an agent",
      description: "The agent's own token is in the answer, this once. Unknown fields are ignored.",
      problems: ["limit-reached"],
    },
  ),
  get(
    "/buildagent/:id/poll",
    { pollForJob },
    describing && {
      tag: "Agent protocol",
      summary: "Wait for a build to run",
      description:
        "Answers as soon as there is one, at the latest after `wait` seconds. The same build under the same lease comes again until it is started, so a lost answer loses nothing. As a WebSocket it carries hints only: `look` and `cancel`. The one message that the socket takes is the text `ping`; anything else closes it with 1008, and of an agent's sockets and waiting polls the newest two stay open.",
      headers: ["BootId"],
      problems: ["conflict"],
      also: { 101: "A WebSocket on which hints come", 204: "Nothing to build just now" },
    },
  ),
  act(
    "/buildagent/:id/heartbeat",
    { heartbeat },
    describing && {
      tag: "Agent protocol",
      summary: "Say that the agent is alive, and extend its lease",
      description: "Every `heartbeatSeconds` while it builds. A lease that is over is no refusal: `cancel` says so.",
      headers: ["HeldLease", "BootId"],
    },
  ),
  act(
    "/build/:id/start",
    { startBuild },
    describing && {
      tag: "Agent protocol",
      summary: "Confirm that the job has arrived",
      description: "Before anything is run. Refused: drop the job, it is another's by now.",
      headers: ["Lease"],
      problems: ["lease-lost", "conflict"],
    },
  ),
  report(
    "/build/:id/progress",
    { reportProgress },
    describing && {
      tag: "Agent protocol",
      summary: "Tell the commit, the steps, and values to mask",
      description: "Values to mask hold for what of the log comes after this call.",
      headers: ["Lease"],
      problems: ["lease-lost", "conflict"],
    },
  ),
  act(
    "/build/:id/release",
    { releaseBuild },
    describing && {
      tag: "Agent protocol",
      summary: "Give a build back for another agent",
      description:
        "With what its file requires it waits for an agent that has it, and no attempt is used. With `elsewhere`, once a build, when this agent cannot fetch it: it is then passed over while another that fits is online, and where there is none the answer is 409. With `interrupted` the attempt counts, and any agent may have the next.",
      headers: ["Lease"],
      problems: ["lease-lost", "conflict"],
    },
  ),
  put(
    "/build/:id/log",
    { writeLog },
    describing && {
      tag: "Agent protocol",
      summary: "Send a part of the log",
      description:
        "`offset` counts the bytes sent under this lease. `next` tells up to where they are stored: what the masker must hold back is sent again with the next chunk.",
      headers: ["Lease"],
      problems: ["lease-lost", "log-gap", "too-large"],
      bytes: true,
    },
  ),
  act(
    "/build/:id/finish",
    { finishBuild },
    describing && {
      tag: "Agent protocol",
      summary: "Report the result",
      description: "The same result again is 200, another one 409.",
      headers: ["Lease"],
      problems: ["lease-lost", "conflict"],
    },
  ),
];
