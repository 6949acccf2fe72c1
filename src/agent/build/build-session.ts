import type { ArtifactStore } from "../artifacts/artifact-store.ts";
import { ArtifactCalls, serviceStore } from "../artifacts/service-store.ts";
import type { CacheRoots } from "../cache/cache-archive.ts";
import { CacheCalls, JobCache, type KeyedCache } from "../cache/job-cache.ts";
import type { LocalTier } from "../cache/local-tier.ts";
import type { Identity } from "../cli/identity.ts";
import { logger } from "../cli/logger.ts";
import type { JobHooks } from "../hooks/job-hooks.ts";
import { JobLog } from "../log/job-log.ts";
import { LogBuffer, sendLog } from "../log/log-sender.ts";
import { ProcessTree } from "../process/process-tree.ts";
import type { StepUser } from "../process/step-user.ts";
import { hookVariables } from "../steps/step-environment.ts";
import type { ToolSources } from "../tools/mise-program.ts";
import { heldId, type JobAnswer, secretValues } from "../wire/answers.ts";
import type { Audience } from "../wire/audience.ts";
import type { AutoResetEvent } from "../wire/auto-reset-event.ts";
import { BuildCalls } from "../wire/build-calls.ts";
import { type ApiClient, describeAnswer } from "../wire/client.ts";
import { type HeartbeatSocket, keepLease } from "../wire/heartbeat.ts";
import { ProgressSender } from "../wire/progress-report.ts";
import { BuildControl } from "./build-control.ts";
import { type BuildFolder, removeFiles, writeRunId } from "./build-folder.ts";
import {
  type BuildResult,
  type ReportedResult,
  reportResult,
  toBrokenMachineResult,
  toResult,
} from "./build-result.ts";
import { BuildRun } from "./build-run.ts";
import { toBuildFailure } from "./failure.ts";

export interface RunJobOptions {
  client: ApiClient;
  identity: Identity;
  folder: BuildFolder;
  user: StepUser | null;
  toolSources: ToolSources;
  /** Copies of cache entries on this machine. */
  tier: LocalTier;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
  /** Set when the service sends a cancel hint. */
  cancelHint: AutoResetEvent;
  audience: Audience;
  hooks: JobHooks;
  /** Heartbeats on the agent's WebSocket, if the job allows them. */
  heartbeats: HeartbeatSocket;
  /** Aborted when the agent must stop the build at once. */
  interrupt: AbortSignal;
}

/** Returns the id of one attempt of one job. */
const toRunId = (job: JobAnswer): string => `${heldId(job)}/${job.lease}`;
const jobName = ({ build, repository, job }: JobAnswer): string =>
  `${job ? `${job.key} in ` : ""}build ${build.number} of ${repository.fullName}`;

export interface SessionEnd {
  /** Whether all the build's processes have ended. */
  hasEnded: boolean;
  /** Whether nothing ran, because the file has jobs, which are now planned. */
  hasPlanned: boolean;
}

/** Runs one job from its start to its result. @throws TokenRefused when somebody removed the agent meanwhile */
export const runJob = async (job: JobAnswer, options: RunJobOptions): Promise<SessionEnd> => {
  const { client, folder, interrupt } = options;
  let buffer: LogBuffer;
  try {
    writeRunId(folder, toRunId(job));
    buffer = new LogBuffer(folder.log);
  } catch (error) {
    const result = toBrokenMachineResult(error);
    await reportResult(result, { client, job, name: jobName(job), signal: interrupt, mask: (text) => text });
    return { hasEnded: false, hasPlanned: false };
  }
  const control = new BuildControl(jobName(job), interrupt);
  return new BuildSession(job, options, control, buffer).run();
};

/** One job on this agent: its lease, processes, log and reports, from the start to the result. */
class BuildSession {
  readonly #job: JobAnswer;
  readonly #options: RunJobOptions;
  readonly #control: BuildControl;
  readonly #buffer: LogBuffer;
  readonly #tree: ProcessTree;
  readonly #log: JobLog;
  readonly #progress: ProgressSender;
  readonly #calls: BuildCalls;

  constructor(job: JobAnswer, options: RunJobOptions, control: BuildControl, buffer: LogBuffer) {
    const { client, folder, user, identity, audience } = options;
    this.#job = job;
    this.#options = options;
    this.#control = control;
    this.#buffer = buffer;
    this.#tree = new ProcessTree(toRunId(job), { user, cgroup: folder.cgroup, folder: folder.path });
    this.#log = new JobLog(secretsToMask(job, identity.token), buffer, (error) =>
      control.cancel.abort(toBuildFailure(error)),
    );
    const leaseContext = { client, lease: job.lease, signal: control.leaseEnd };
    this.#calls = new BuildCalls({
      ...leaseContext,
      id: heldId(job),
      cancel: control.cancel.signal,
      onLeaseLost: () => control.stop("lease-lost"),
    });
    this.#progress = new ProgressSender({ ...leaseContext, jobId: heldId(job), audience, onError: control.fail });
  }

  async run(): Promise<SessionEnd> {
    const control = this.#control;
    const started = this.#start();
    started.catch(control.fail);
    const heartbeats = this.#keepLease().catch(control.fail);
    const logSent = this.#sendLog(started).catch(control.fail);
    try {
      const result = await this.#perform(started);
      const hasEnded = await this.#terminate();
      if (hasEnded) await removeFiles(this.#options.folder, this.#options.user);
      await this.#options.hooks.after({ log: this.#log, signal: this.#options.interrupt });
      this.#log.flush();
      this.#buffer.close();
      await logSent;
      if (result.kind !== "planned") {
        await this.#progress.flushed();
        await this.#report(result);
      }
      control.throwIfFailed();
      return { hasEnded, hasPlanned: result.kind === "planned" };
    } finally {
      control.close();
      this.#progress.close();
      await heartbeats;
      this.#buffer.dispose();
    }
  }

  /** Confirms the job's arrival to the service. @throws Cancel lease-lost when the service rejects the start */
  async #start(): Promise<void> {
    const { client, identity } = this.#options;
    const answer = await this.#calls.start();
    if (answer.status === 200)
      return logger.info(`${this.#name} (${heldId(this.#job)}) started on ${this.#job.build.branch}`);
    logger.warn(`the service rejected the start of ${this.#name}: ${describeAnswer(answer)}`);
    this.#control.stop("lease-lost");
    // After two unstarted jobs in a row, the service offers the agent no other job until the agent's next heartbeat.
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
      signal: this.#control.holdEnd,
    });
  }

  #sendLog(started: Promise<void>): Promise<void> {
    return sendLog({
      client: this.#options.client,
      jobId: heldId(this.#job),
      lease: this.#job.lease,
      buffer: this.#buffer,
      audience: this.#options.audience,
      readyToSend: () => started.then(() => this.#progress.masksKnown()),
      signal: this.#control.leaseEnd,
    });
  }

  #perform(started: Promise<void>): Promise<BuildResult> {
    const { identity, folder, user, toolSources, grace } = this.#options;
    const run = new BuildRun(this.#job, {
      identity,
      folder,
      user,
      toolSources,
      grace,
      tree: this.#tree,
      log: this.#log,
      progress: this.#progress,
      cancel: this.#control.cancel,
      started,
      calls: this.#calls,
      prepare: () => this.#prepare(started),
      artifacts: this.#artifacts(),
      openCache: (roots, caches) => this.#cache(roots, caches),
      letGo: () => this.#control.letGo(),
      abandon: this.#control.leaseEnd,
    });
    return run.run().catch((error: unknown) => toResult(error, this.#job, this.#log));
  }

  #prepare(started: Promise<void>): Promise<void> {
    const { hooks, identity } = this.#options;
    const variables = hookVariables(this.#job, identity);
    return hooks.before({ variables, log: this.#log, signal: this.#control.cancel.signal }, started);
  }

  #artifacts(): ArtifactStore {
    const { client } = this.#options;
    const { stop, cancel } = this.#control;
    const leaseContext = { client, id: heldId(this.#job), lease: this.#job.lease };
    const calls = new ArtifactCalls({ ...leaseContext, signal: cancel.signal, onLeaseLost: () => stop("lease-lost") });
    return serviceStore(calls, client, this.#log);
  }

  #cache(roots: CacheRoots, caches: KeyedCache[]): JobCache {
    const { client, tier } = this.#options;
    const { stop, cancel } = this.#control;
    const leaseContext = { client, id: heldId(this.#job), lease: this.#job.lease };
    const calls = new CacheCalls({ ...leaseContext, signal: cancel.signal, onLeaseLost: () => stop("lease-lost") });
    return new JobCache({ calls, client, tier, log: this.#log }, roots, caches);
  }

  async #terminate(): Promise<boolean> {
    const hasEnded = await this.#tree.terminate(this.#options.grace);
    if (!hasEnded) logger.error(`${this.#name}: cannot end some of its processes`);
    return hasEnded;
  }

  async #report(result: ReportedResult): Promise<void> {
    const signal = this.#control.leaseEnd;
    if (signal.aborted) return logger.warn(`${this.#name}: not sending a result because the lease is lost`);
    const { client } = this.#options;
    const mask = (text: string): string => this.#log.mask(text);
    await reportResult(result, { client, job: this.#job, name: this.#name, signal, mask }).catch(this.#control.fail);
  }

  get #name(): string {
    return jobName(this.#job);
  }
}

/** Returns all values to mask: the job's secrets, the clone credential, and the agent's own token. */
const secretsToMask = (job: JobAnswer, agentToken: string): string[] => {
  return [...secretValues(job), job.repository.credential?.value ?? "", agentToken].filter((value) => value !== "");
};
