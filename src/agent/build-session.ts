import type { Finish, Release } from "../protocol/jobs.ts";
import { LIMITS } from "../protocol/limits.ts";
import { announce } from "./announce.ts";
import type { JobAnswer } from "./answers.ts";
import type { Bell } from "./bell.ts";
import { type BuildFolder, nameRun } from "./build-folder.ts";
import { BuildLog } from "./build-log.ts";
import { type Client, wordOf } from "./client.ts";
import { BuildFailure, Cancel, type CancelReason, localFailure, TryElsewhere, WrongAgent } from "./failure.ts";
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

const runIdOf = ({ build, lease }: JobAnswer): string => `${build.id}/${lease}`;
const nameOf = ({ build, repository }: JobAnswer): string => `build ${build.number} of ${repository.fullName}`;

/**
 * Takes one job from its start to its finish. @throws Refused when the agent was removed meanwhile.
 * @returns whether nothing that it has started lives.
 */
export const runJob = async (job: JobAnswer, session: Session): Promise<boolean> => {
  const { client, folder } = session;
  let spool: LogSpool;
  try {
    nameRun(folder, runIdOf(job));
    spool = new LogSpool(folder.spool);
  } catch (error) {
    const reason = localFailure(error).message;
    announce.error(`${nameOf(job)} goes back: ${reason}`);
    const body: Release = { reason: reason.slice(0, LIMITS.releaseReasonCharacters), interrupted: true };
    const [path, signal] = [`/build/${job.build.id}/release`, session.interrupt];
    await client.send({ method: "POST", path, body, lease: job.lease, signal });
    return false;
  }
  return work(job, session, spool);
};

const work = async (job: JobAnswer, session: Session, spool: LogSpool): Promise<boolean> => {
  const { client, folder } = session;
  const { lease } = job;
  const name = nameOf(job);
  const over = new AbortController();
  const cancel = new AbortController();
  let fatal: unknown = null;
  let isQuiet = false;
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
  const interrupt = (): void => onCancel("interrupted");
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

  const tree = new ProcessTree(runIdOf(job), { user: session.user, cgroup: folder.cgroup, folder: folder.path });
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
    const around = { ...session, tree, log, progress, cancel, begun, abandon: over.signal };
    const ending = await performBuild(job, around).then(
      (body): Ending => ({ kind: "finish", body }),
      (error: unknown) => endingOf(error, job, log),
    );
    isQuiet = await tree.end(session.grace);
    if (!isQuiet) announce.error(`${name}: not all that it has started ends`);
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
  return isQuiet;
};

/** All that may not be printed: the job's secrets, the clone credential, and the agent's own token. */
const secretsOf = (job: JobAnswer, agentToken: string): string[] => {
  const values = job.secretKeys.map((key) => (Object.hasOwn(job.env, key) ? (job.env[key] ?? "") : ""));
  return [...values, job.repository.credential?.value ?? "", agentToken].filter((value) => value !== "");
};

/** How it ended for the wire. A release that is refused may have an end in its place. */
type Ending = { kind: "finish"; body: Finish } | { kind: "release"; body: Release; otherwise?: Finish };

const finishOf = ({ reason, message }: BuildFailure): Finish => ({ status: "failed", exitCode: null, reason, message });

/** What came instead of a result, as a result; the log says it too. */
const endingOf = (error: unknown, job: JobAnswer, log: BuildLog): Ending => {
  if (error instanceof WrongAgent)
    return { kind: "release", body: { reason: error.message, requires: error.requires } };
  if (error instanceof Cancel && error.reason === "interrupted") {
    log.say("The agent was stopped: this attempt of the build is lost");
    return { kind: "release", body: { reason: "the agent was stopped", interrupted: true } };
  }
  if (error instanceof Cancel && error.reason !== "timeout") {
    log.say("The build was canceled");
    return { kind: "finish", body: { status: "canceled", exitCode: null, reason: "canceled" } };
  }
  const failure = error instanceof Cancel ? overtime(error.limit ?? job.timeoutSeconds) : localFailure(error);
  log.say(failure.message);
  const finish = finishOf(failure);
  if (!(failure instanceof TryElsewhere)) return { kind: "finish", body: finish };
  return { kind: "release", body: { reason: failure.message, elsewhere: true }, otherwise: finish };
};

const overtime = (seconds: number): BuildFailure =>
  new BuildFailure("timeout", `the build took longer than its time limit of ${seconds} seconds`);

const report = async (
  job: JobAnswer,
  ending: Ending,
  client: Client,
  signal: AbortSignal,
  log: BuildLog,
  name: string,
): Promise<void> => {
  const path = `/build/${job.build.id}/${ending.kind}`;
  const answer = await client.send({ method: "POST", path, body: masked(ending, log), lease: job.lease, signal });
  if (answer.status !== 200 && ending.kind === "release" && ending.otherwise)
    return report(job, { kind: "finish", body: ending.otherwise }, client, signal, log, name);
  if (answer.status !== 200) return announce.warn(`${name}: its end was refused: ${wordOf(answer)}`);
  announce.info(
    ending.kind === "release" ? `${name} goes back: ${ending.body.reason}` : `${name} ${ending.body.status}`,
  );
};

const masked = ({ kind, body }: Ending, log: BuildLog): Finish | Release => {
  if (kind === "release") return { ...body, reason: log.mask(body.reason).slice(0, LIMITS.releaseReasonCharacters) };
  return { ...body, message: body.message ? log.mask(body.message).slice(0, LIMITS.messageCharacters) : null };
};
