import { BuildControl } from "./build-control.ts";
import { type BuildFolder, writeRunId } from "./build-folder.ts";
import { type BuildResult, reportResult, resultOfBrokenMachine, resultOfError } from "./build-result.ts";
import type { Identity } from "./cli/identity.ts";
import { logger } from "./cli/logger.ts";
import { toBuildFailure } from "./failure.ts";
import { BuildLog } from "./log/build-log.ts";
import { LogBuffer } from "./log/log-buffer.ts";
import { sendLog } from "./log/log-sender.ts";
import { performBuild } from "./perform-build.ts";
import { ProcessTree } from "./process/process-tree.ts";
import type { StepUser } from "./process/step-user.ts";
import type { JobAnswer } from "./wire/answers.ts";
import type { Audience } from "./wire/audience.ts";
import type { AutoResetEvent } from "./wire/auto-reset-event.ts";
import { type Client, describeAnswer, Unreachable } from "./wire/client.ts";
import { keepLease } from "./wire/heartbeat.ts";
import type { HeartbeatSocket } from "./wire/heartbeat-socket.ts";
import { ProgressReport } from "./wire/progress-report.ts";

export interface RunJobOptions {
  client: Client;
  identity: Identity;
  folder: BuildFolder;
  user: StepUser | null;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
  /** Set when the service hints at a cancel. */
  cancelHint: AutoResetEvent;
  audience: Audience;
  /** Heartbeats on the agent's WebSocket, where the job allows them. */
  heartbeats: HeartbeatSocket;
  /** Aborted when the agent must stop the build at once. */
  interrupt: AbortSignal;
}

const FILE_TRIES = 5;

/** Names one attempt of one build. */
const runIdOf = ({ build, lease }: JobAnswer): string => `${build.id}/${lease}`;
const nameOf = ({ build, repository }: JobAnswer): string => `build ${build.number} of ${repository.fullName}`;

/**
 * Takes one job from its start to its result.
 * @returns whether every process that the build started has ended.
 * @throws TokenRefused when the agent was removed meanwhile.
 */
export const runJob = async (job: JobAnswer, options: RunJobOptions): Promise<boolean> => {
  const { client, folder, interrupt } = options;
  let buffer: LogBuffer;
  try {
    writeRunId(folder, runIdOf(job));
    buffer = new LogBuffer(folder.log);
  } catch (error) {
    const result = resultOfBrokenMachine(error);
    await reportResult(result, { client, job, name: nameOf(job), signal: interrupt, mask: (text) => text });
    return false;
  }
  const control = new BuildControl(nameOf(job), interrupt);
  return new BuildSession(job, options, control, buffer).run();
};

/** One job in the agent's hands: its lease, processes, log and reports, from the start to the result. */
class BuildSession {
  readonly #job: JobAnswer;
  readonly #options: RunJobOptions;
  readonly #control: BuildControl;
  readonly #buffer: LogBuffer;
  readonly #tree: ProcessTree;
  readonly #log: BuildLog;
  readonly #progress: ProgressReport;

  constructor(job: JobAnswer, options: RunJobOptions, control: BuildControl, buffer: LogBuffer) {
    const { client, folder, user, identity, audience } = options;
    this.#job = job;
    this.#options = options;
    this.#control = control;
    this.#buffer = buffer;
    this.#tree = new ProcessTree(runIdOf(job), { user, cgroup: folder.cgroup, folder: folder.path });
    this.#log = new BuildLog(secretsOf(job, identity.token), buffer, (error) =>
      control.cancel.abort(toBuildFailure(error)),
    );
    this.#progress = new ProgressReport({
      client,
      buildId: job.build.id,
      lease: job.lease,
      audience,
      signal: control.leaseEnd,
      onError: control.fail,
    });
  }

  async run(): Promise<boolean> {
    const control = this.#control;
    const started = this.#start();
    started.catch(control.fail);
    const heartbeats = this.#keepLease().catch(control.fail);
    const logSent = this.#sendLog(started).catch(control.fail);
    try {
      const result = await this.#perform(started);
      const hasEnded = await this.#terminate();
      this.#log.flush();
      this.#buffer.close();
      await logSent;
      await this.#progress.flushed();
      await this.#report(result);
      control.throwIfFailed();
      return hasEnded;
    } finally {
      control.close();
      this.#progress.close();
      await heartbeats;
      this.#buffer.dispose();
    }
  }

  /** Confirms to the service that the job arrived. @throws Cancel lease-lost when the service refuses. */
  async #start(): Promise<void> {
    const { client, identity } = this.#options;
    const { build, lease } = this.#job;
    const signal = this.#control.leaseEnd;
    const answer = await client.send({ method: "POST", path: `/build/${build.id}/start`, lease, signal });
    if (answer.status === 200) return logger.info(`${this.#name} (${build.id}) started on ${build.branch}`);
    logger.warn(`the service refused the start of ${this.#name}: ${describeAnswer(answer)}`);
    this.#control.stop("lease-lost");
    // After two jobs in a row that an agent did not start, the service offers it none until its next heartbeat.
    await client.send({ method: "POST", path: `/buildagent/${identity.id}/heartbeat` });
    throw this.#control.cancel.signal.reason;
  }

  #keepLease(): Promise<void> {
    const { client, identity, cancelHint, heartbeats } = this.#options;
    return keepLease({
      client,
      agentId: identity.id,
      lease: this.#job.lease,
      heartbeatSeconds: identity.heartbeatSeconds,
      socket: this.#job.heartbeat === "socket" ? heartbeats.allow() : null,
      cancelHint,
      onCancel: this.#control.stop,
      signal: this.#control.leaseEnd,
    });
  }

  #sendLog(started: Promise<void>): Promise<void> {
    return sendLog({
      client: this.#options.client,
      buildId: this.#job.build.id,
      lease: this.#job.lease,
      buffer: this.#buffer,
      audience: this.#options.audience,
      readyToSend: () => started.then(() => this.#progress.masksKnown()),
      signal: this.#control.leaseEnd,
    });
  }

  #perform(started: Promise<void>): Promise<BuildResult> {
    const { identity, folder, user, grace } = this.#options;
    return performBuild(this.#job, {
      identity,
      folder,
      user,
      grace,
      tree: this.#tree,
      log: this.#log,
      progress: this.#progress,
      cancel: this.#control.cancel,
      started,
      sendFile: (text) => this.#sendFile(text),
      abandon: this.#control.leaseEnd,
    }).then(
      (body): BuildResult => ({ kind: "finish", body }),
      (error: unknown) => resultOfError(error, this.#job, this.#log),
    );
  }

  /** A file that the service does not take changes nothing of the build. */
  async #sendFile(text: string): Promise<void> {
    const { build, lease } = this.#job;
    const bytes = new TextEncoder().encode(text);
    const signal = this.#control.leaseEnd;
    const call = {
      method: "PUT",
      path: `/build/${build.id}/file`,
      bytes,
      lease,
      signal,
      maxTries: FILE_TRIES,
    } as const;
    try {
      const answer = await this.#options.client.send(call);
      if (answer.status >= 400) logger.warn(`the service refused the pipeline file: ${describeAnswer(answer)}`);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      logger.warn(`the pipeline file was not sent: ${error.message}`);
    }
  }

  async #terminate(): Promise<boolean> {
    const hasEnded = await this.#tree.terminate(this.#options.grace);
    if (!hasEnded) logger.error(`${this.#name}: some processes that it started do not end`);
    return hasEnded;
  }

  async #report(result: BuildResult): Promise<void> {
    const signal = this.#control.leaseEnd;
    if (signal.aborted) return logger.warn(`${this.#name}: no result is sent, because the lease is lost`);
    const { client } = this.#options;
    const mask = (text: string): string => this.#log.mask(text);
    await reportResult(result, { client, job: this.#job, name: this.#name, signal, mask }).catch(this.#control.fail);
  }

  get #name(): string {
    return nameOf(this.#job);
  }
}

/** All that must be masked: the job's secrets, the clone credential, and the agent's own token. */
const secretsOf = (job: JobAnswer, agentToken: string): string[] => {
  const values = job.secretKeys.map((key) => (Object.hasOwn(job.env, key) ? (job.env[key] ?? "") : ""));
  return [...values, job.repository.credential?.value ?? "", agentToken].filter((value) => value !== "");
};
