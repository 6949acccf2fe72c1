import { registerAgent } from "../../services/agents.ts";
import { getEnvironment } from "../../services/environment.ts";
import { finishBuild } from "../../services/finish.ts";
import { heartbeat, releaseBuild, reportProgress, startBuild } from "../../services/jobs.ts";
import { planBuild } from "../../services/plan.ts";
import { pollForJob, sendFile, writeLog } from "../streams.ts";
import { act, create, describing, get, put, type Route, report, store } from "./route.ts";

/** The path of a job: that of a build names the job that it begins with. */
const asJob = (id: string, path: string, summary?: string) => ({
  ...{ id, path: `/job/:id/${path}` },
  words: describing && {
    ...(summary && { summary }),
    description: `As \`/build/{id}/${path}\`, for a job of a build of several.`,
  },
});

export const AGENT_PROTOCOL_ROUTES: Route[] = [
  create(
    "/buildagent/register",
    "/buildagent/:id",
    { registerAgent },
    describing && {
      tag: "Agent protocol",
      summary: "Register an agent",
      description: "The answer contains the agent's own token; no later answer does. Unknown fields are ignored.",
      problems: ["limit-reached"],
    },
  ),
  get(
    "/buildagent/:id/poll",
    { pollForJob },
    describing && {
      tag: "Agent protocol",
      summary: "Poll for a build to run",
      description:
        'Answers as soon as there is a build for the agent, and after `wait` seconds at the latest. Returns the same build with the same lease until the agent starts it, so that a lost answer loses nothing. As a WebSocket it sends hints (`look`, `cancel` and `followed`) and takes heartbeats: `{"type":"heartbeat","lease":N,"boot":"..."}`, where the job says so. The socket accepts the text `ping` too; any other message closes it with 1008. Of an agent\'s sockets and waiting polls, the newest two stay open.',
      headers: ["BootId", "Features", "Xcodes"],
      problems: ["conflict"],
      also: { 101: "A WebSocket for hints", 204: "No build for this agent" },
    },
  ),
  act(
    "/buildagent/:id/heartbeat",
    { heartbeat },
    describing && {
      tag: "Agent protocol",
      summary: "Send a heartbeat, which renews the lease",
      description:
        "Send one every `heartbeatSeconds` while a build runs. If the lease has expired, the answer is not a problem: its `cancel` is true.",
      headers: ["HeldLease", "BootId"],
    },
  ),
  put(
    "/build/:id/plan",
    { planBuild },
    describing && {
      tag: "Agent protocol",
      summary: "Send the file of a build of several jobs",
      description:
        "Send it where the pipeline file in the commit has `jobs` or `groups`. The service makes the jobs of it, and the lease is over. Each job is compared with the commit before it runs. The same text again has the same answer. A file that cannot be planned is answered with 422, and the build has failed.",
      headers: ["Lease"],
      problems: ["lease-lost", "conflict", "too-large", "limit-reached"],
    },
  ),
  store(
    "/build/:id/file",
    { sendFile },
    describing && {
      tag: "Agent protocol",
      summary: "Send the pipeline file of the default branch",
      description:
        "Send it where the job has `file` and the text has another SHA-256 than `file.hash`; an empty body where the commit has no such file. The service keeps what it says of when the pipeline is built. A file with mistakes changes nothing of that; the pipeline's `triggers.mistake` has the first.",
      headers: ["Lease"],
      problems: ["lease-lost", "conflict", "too-large", "malformed-body"],
      bytes: true,
    },
  ),
  act(
    "/build/:id/start",
    { startBuild },
    describing && {
      tag: "Agent protocol",
      summary: "Start a build",
      description:
        "Confirms that the job arrived. Call it before you run anything. If it is refused, drop the job: the agent no longer holds the build.",
      headers: ["Lease"],
      problems: ["lease-lost", "conflict"],
    },
    asJob("startJob", "start", "Start a job"),
  ),
  report(
    "/build/:id/progress",
    { reportProgress },
    describing && {
      tag: "Agent protocol",
      summary: "Report the commit, the steps, and values to mask",
      description: "The values are masked in the part of the log that is sent after this call.",
      headers: ["Lease"],
      problems: ["lease-lost", "conflict"],
    },
    asJob("reportJobProgress", "progress"),
  ),
  act(
    "/build/:id/release",
    { releaseBuild },
    describing && {
      tag: "Agent protocol",
      summary: "Release a build for another agent",
      description:
        "With `requires`, the build waits for an agent that meets them, and the attempt does not count. With `elsewhere`, once for each build, another agent tries to fetch the source: this agent is passed over while another suitable one is online; if there is none, the answer is 409. With `interrupted`, the attempt counts, and any agent may take the next one.",
      headers: ["Lease"],
      problems: ["lease-lost", "conflict"],
    },
    asJob("releaseJob", "release", "Release a job for another agent"),
  ),
  put(
    "/build/:id/log",
    { writeLog },
    describing && {
      tag: "Agent protocol",
      summary: "Send a chunk of the log",
      description:
        "`offset` is the number of bytes sent before under this lease. `next` is the number of bytes stored: send the bytes from there on again with the next chunk, because the service may hold back some to mask a secret between two chunks.",
      headers: ["Lease"],
      problems: ["lease-lost", "log-gap", "too-large"],
      bytes: true,
    },
    asJob("writeJobLog", "log"),
  ),
  act(
    "/build/:id/finish",
    { finishBuild },
    describing && {
      tag: "Agent protocol",
      summary: "Report the result",
      description: "The answer is 200 when the same result is reported again, and 409 for a different one.",
      headers: ["Lease"],
      problems: ["lease-lost", "conflict"],
    },
    asJob("finishJob", "finish"),
  ),
  act(
    "/build/:id/environment",
    { getEnvironment },
    describing && {
      tag: "Agent protocol",
      summary: "Get the environment of a build",
      description:
        "Call it where the job has `needsEnvironment`, once the pipeline file was read, has no jobs and fits this agent: until then the agent has no secret. The same lease may ask again. If the environment cannot be composed, the build has failed, and the answer is 409.",
      headers: ["Lease"],
      problems: ["lease-lost", "conflict", "unavailable", "keyring-unavailable"],
    },
    asJob("getJobEnvironment", "environment", "Get the environment of a job"),
  ),
];
