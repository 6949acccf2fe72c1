import type { Finish, Job } from "../protocol/jobs.ts";
import { announce } from "./announce.ts";
import type { Bell } from "./bell.ts";
import { type BuildFolder, nameRun } from "./build-folder.ts";
import { BuildLog } from "./build-log.ts";
import { type Client, wordOf } from "./client.ts";
import { BuildFailure, Cancel, type CancelReason, localFailure, WrongAgent } from "./failure.ts";
import { keepLease } from "./heartbeat.ts";
import type { Identity } from "./identity.ts";
import { sendLog } from "./log-sender.ts";
import { LogSpool } from "./log-spool.ts";
import { ProcessTree } from "./process-tree.ts";
import { ProgressReport } from "./progress.ts";
import { performBuild } from "./runner.ts";
import type { StepUser } from "./step-user.ts";

export interface Session {
  client: Client;
  identity: Identity;
  folder: BuildFolder;
  user: StepUser | null;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
  /** Rung when the service hints at a cancel. */
  cancelHint: Bell;
  /** Aborted when this agent is to stop the build at once. */
  interrupt: AbortSignal;
}

/** The characters a message may have on the wire. */
const MESSAGE_LIMIT = 4000;

/** Takes one job from its start to its finish. @throws Refused when the agent was removed meanwhile. */
export const runJob = async (job: Job, session: Session): Promise<void> => {
  const { client, folder } = session;
  const { lease } = job;
  const name = `build ${job.build.number} of ${job.repository.fullName}`;
  const runId = `${job.build.id}/${lease}`;
  nameRun(folder, runId);
  const over = new AbortController();
  const cancel = new AbortController();
  let fatal: unknown = null;
  const onTrouble = (error: unknown): void => {
    if (over.signal.aborted) return;
    fatal = error;
    cancel.abort(new Cancel("lease-lost"));
    over.abort(error);
  };
  const onCancel = (reason: CancelReason): void => {
    if (!cancel.signal.aborted && reason !== "lease-lost") announce.warn(`${name} is to stop: ${reason}`);
    cancel.abort(new Cancel(reason));
    if (reason === "lease-lost") over.abort(new Cancel(reason));
  };
  const interrupt = (): void => onCancel("canceled");
  session.interrupt.addEventListener("abort", interrupt, { once: true });
  if (session.interrupt.aborted) interrupt();

  const begin = async (): Promise<void> => {
    const { signal } = over;
    const answer = await client.send({ method: "POST", path: `/build/${job.build.id}/start`, lease, signal });
    if (answer.status === 200) return announce.info(`${name} (${job.build.id}) begins on ${job.build.branch}`);
    announce.warn(`${name} is not ours to start: ${wordOf(answer)}`);
    onCancel("lease-lost");
    // An agent that twice in a row did not start what it had taken gets nothing until it says that it is well.
    await client.send({ method: "POST", path: `/buildagent/${session.identity.id}/heartbeat` });
    throw cancel.signal.reason;
  };
  const begun = begin();
  begun.catch(onTrouble);

  const tree = new ProcessTree(runId, { user: session.user, cgroup: folder.cgroup, folder: folder.path });
  const spool = new LogSpool(folder.spool);
  const log = new BuildLog(secretsOf(job, session.identity.token), spool, (error) => cancel.abort(localFailure(error)));
  const progress = new ProgressReport({ client, buildId: job.build.id, lease, signal: over.signal, onTrouble });
  const heartbeats = keepLease({
    client,
    agentId: session.identity.id,
    lease,
    everySeconds: session.identity.heartbeatSeconds,
    nudge: session.cancelHint,
    onCancel,
    signal: over.signal,
  }).catch(onTrouble);
  const sending = sendLog({
    client,
    buildId: job.build.id,
    lease,
    spool,
    beforeBytes: () => begun.then(() => progress.masksKnown()),
    signal: over.signal,
  }).catch(onTrouble);

  try {
    const ending = await performBuild(job, {
      ...session,
      tree,
      log,
      progress,
      cancel,
      begun,
      abandon: over.signal,
    }).catch((error: unknown) => endingOf(error, job, log));
    if (!(await tree.end(session.grace))) announce.error(`${name}: not all that it has started ends`);
    log.flush();
    spool.close();
    await sending;
    await progress.flushed();
    if (!over.signal.aborted) await report(job, ending, session.client, over.signal, log, name).catch(onTrouble);
    else announce.warn(`${name} is dropped: its lease is lost`);
  } finally {
    session.interrupt.removeEventListener("abort", interrupt);
    over.abort(new Cancel("lease-lost"));
    await heartbeats;
    spool.dispose();
  }
  if (fatal !== null) throw fatal;
};

/** All that may not be printed: the job's secrets, the clone credential, and the agent's own token. */
const secretsOf = (job: Job, agentToken: string): string[] => {
  const values = job.secretKeys.map((key) => (Object.hasOwn(job.env, key) ? (job.env[key] ?? "") : ""));
  return [...values, job.repository.credential?.value ?? "", agentToken].filter((value) => value !== "");
};

type Ending = Finish | WrongAgent;

/** What came instead of a result, as a result; the log says it too. */
const endingOf = (error: unknown, job: Job, log: BuildLog): Ending => {
  if (error instanceof WrongAgent) return error;
  if (error instanceof Cancel && error.reason !== "timeout") {
    log.say("The build was canceled");
    return { status: "canceled", exitCode: null, reason: "canceled" };
  }
  const failure = error instanceof Cancel ? overtime(error.limit ?? job.timeoutSeconds) : localFailure(error);
  log.say(failure.message);
  return { status: "failed", exitCode: null, reason: failure.reason, message: failure.message };
};

const overtime = (seconds: number): BuildFailure =>
  new BuildFailure("timeout", `the build took longer than its time limit of ${seconds} seconds`);

const report = async (
  job: Job,
  ending: Ending,
  client: Client,
  signal: AbortSignal,
  log: BuildLog,
  name: string,
): Promise<void> => {
  const isRelease = ending instanceof WrongAgent;
  const body = isRelease
    ? { reason: ending.message, requires: ending.requires }
    : { ...ending, message: ending.message ? log.mask(ending.message).slice(0, MESSAGE_LIMIT) : null };
  const path = `/build/${job.build.id}/${isRelease ? "release" : "finish"}`;
  const answer = await client.send({ method: "POST", path, body, lease: job.lease, signal });
  if (answer.status !== 200) return announce.warn(`${name}: its end was refused: ${wordOf(answer)}`);
  announce.info(isRelease ? `${name} goes back: ${ending.message}` : `${name} ${ending.status}`);
};
