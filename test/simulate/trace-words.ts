import type { Command } from "../../src/queue/commands/step.ts";
import type { BuildFacts, Change, JobFacts } from "../../src/queue/state/facts.ts";
import type { AnyInput } from "./observations.ts";
import { EPOCH } from "./simulator.ts";
import type { SimStorage } from "./storage.ts";

/** Formats the time since the start of a history: `01:05.500`, `02:00:00.000` or `50d 00:00:01.000`. */
export const clock = (now: number): string => {
  const milliseconds = Math.abs(now - EPOCH);
  const seconds = Math.floor(milliseconds / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const two = (value: number) => String(value).padStart(2, "0");
  const time = `${two(minutes % 60)}:${two(seconds % 60)}.${String(milliseconds % 1000).padStart(3, "0")}`;
  return `${now < EPOCH ? "-" : ""}${days > 0 ? `${days}d ` : ""}${hours > 0 ? `${two(hours % 24)}:` : ""}${time}`;
};

const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`;

const BY_WORKER: ReadonlySet<Command> = new Set(["deliver", "unclaim", "failClaim", "flagLeak"]);
const BY_PERSON: ReadonlySet<Command> = new Set([
  "enqueue",
  "cancel",
  "decideGate",
  "deleteBuild",
  "updateAgent",
  "removeAgent",
  "removeAgentsOf",
]);

/** Returns the calling agent, or the part of the service that calls instead. */
export const callerOf = (command: Command, input: AnyInput): string => {
  if (BY_PERSON.has(command)) return "api";
  if (command === "arrive") return "hook";
  if (BY_WORKER.has(command)) return "worker";
  return input?.agentId ?? input?.id ?? "pool";
};

/** Describes a command's request, without its build and its lease. */
export const requestWords = (command: Command, input: AnyInput): string => {
  if (command === "enqueue")
    return [input.id, input.idempotency && `key ${input.idempotency.key}`].filter(Boolean).join(" ");
  if (command === "arrive")
    return `${input.deliveryId} ${input.builds[0]?.commitSha ?? `without ${input.ended[0].ref}`}`;
  if (command === "updateAgent") return `${input.agentId} ${input.change.isDraining ? "drain" : "undrain"}`;
  if (command === "removeAgent") return input.agentId;
  if (command === "removeAgentsOf") return input.tokenId;
  if (command === "plan") return `${input.graph.jobs.length} jobs`;
  if (command === "decideGate") return `${input.id} ${input.approved ? "approve" : "reject"} as ${input.role}`;
  if (command === "finish") return input.status;
  if (command === "release") return input.elsewhere ? "not fetched" : input.interrupted ? "interrupted" : "not able";
  return input?.bootId && command === "claim" ? input.bootId : "";
};

/** Describes the value of an accepted call in a few words. */
export const answerWords = (command: Command, value: AnyInput, now: number): string => {
  if (command === "claim") return value ? `${value.jobId}, lease ${seconds(value.expiresAt - now)}` : "no build";
  if (command === "enqueue") return value.isNew ? value.buildId : `${value.buildId}, known by its key`;
  if (command === "arrive" && value.isRepeat) return "known";
  if (command === "arrive")
    return (
      [
        ...value.builds.map((one: AnyInput) => `${one.buildId ?? "no build"} ${one.outcome}`),
        ...value.canceled.map((id: string) => `${id} canceled`),
      ].join(", ") || "ok"
    );
  if (command === "heartbeat" && value.reason) return value.cancel ? `stop: ${value.reason}` : value.reason;
  if (command === "heartbeat" && value.leaseExpiresAt)
    return `lease ${seconds(Date.parse(value.leaseExpiresAt) - now)}`;
  return "ok";
};

/** Describes the effect of the changes on the state. `storage` still has the old rows. */
export const changeWords = (
  changes: readonly Change[],
  { rows }: SimStorage,
  now: number,
  fenceName: (fence: number) => string,
): string[] =>
  changes.flatMap((change) => {
    switch (change.kind) {
      case "build":
        return buildWords(rows.builds.get(change.build.id), change.build, firstJobOf(change.build.id, changes, rows));
      case "job":
        return jobWords(rows.jobs.get(change.job.id), change.job, now, fenceName);
      case "agent": {
        const before = rows.agents.get(change.agent.id);
        if (!before) return [`${change.agent.id} registered`];
        if (before.isDraining === change.agent.isDraining) return [];
        return [`${change.agent.id} ${change.agent.isDraining ? "drains" : "accepts builds"}`];
      }
      case "agent-removed":
        return [`${change.agentId} removed`];
      case "revoked":
        return [`${change.tokenId} revoked`];
      case "delivered":
        return [`${change.buildId} ${DELIVERED[change.channel]}`];
      case "entries-delivered":
        return [`${change.entries.length} of the ${change.channel === "lists" ? "audit in D1" : "logs closed"}`];
      default:
        return [];
    }
  });

const DELIVERED = { lists: "in D1", logs: "with its log closed", hosts: "reported to its git host" };

/** Returns the job with which the build began, with these changes, unless others replaced it. */
const firstJobOf = (id: string, changes: readonly Change[], { jobs }: SimStorage["rows"]): JobFacts | undefined => {
  const last = changes.findLast((change) => change.kind === "job" && change.job.id === id);
  return last?.kind === "job" ? last.job : jobs.get(id);
};

/** Nothing if the words of its first job, which has its id, say the same. */
const buildWords = (
  before: BuildFacts | undefined,
  { id, status, reason }: BuildFacts,
  first: JobFacts | undefined,
): string[] => {
  if (before?.status === status || first?.status === status) return [];
  return [`${id} ${before?.status ?? "new"} -> ${status}${reason ? ` (${reason})` : ""}`];
};

const jobWords = (
  before: JobFacts | undefined,
  job: JobFacts,
  now: number,
  fenceName: (fence: number) => string,
): string[] => {
  const { id, status, gate, end } = job;
  const words: string[] = [];
  const why = end?.reason ?? end?.cause?.kind;
  if (before?.status !== status) words.push(`${id} ${before?.status ?? "new"} -> ${status}${why ? ` (${why})` : ""}`);
  words.push(...leaseWords(before, job, now, fenceName));
  if (gate?.decision && !before?.gate?.decision)
    words.push(`${id} ${gate.decision.approved ? "approved" : "rejected"}`);
  else if (gate && !before?.gate) words.push(`the gate of ${id} asks`);
  return words;
};

const leaseWords = (
  before: JobFacts | undefined,
  job: JobFacts,
  now: number,
  fenceName: (fence: number) => string,
): string[] => {
  const [old, lease] = [before?.lease, job.lease];
  if (!lease) return old ? [`lease ${fenceName(old.fence)} of ${old.agentId} ends`] : [];
  if (!old) return [`lease ${fenceName(lease.fence)} for ${lease.agentId} of ${seconds(lease.expiresAt - now)}`];
  if (lease.stop && !old.stop) return [`${lease.agentId} must stop: ${lease.stop.reason}`];
  if (lease.expiresAt <= old.expiresAt) return [];
  return [`lease ${fenceName(lease.fence)} extended to ${seconds(lease.expiresAt - now)}`];
};
