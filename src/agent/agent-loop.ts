import { randomUUID } from "node:crypto";
import { join } from "node:path";
import * as z from "zod/mini";
import { Agent } from "../protocol/agent.ts";
import { VERSION } from "../protocol/version.ts";
import {
  type BuildFolder,
  endAndRemoveBuild,
  findLeftovers,
  makeBuildFolder,
  makeWorkFolder,
  removeBuildFolder,
} from "./build/build-folder.ts";
import { type RunJobOptions, runJob, type SessionEnd } from "./build/build-session.ts";
import { toBuildFailure } from "./build/failure.ts";
import { LocalTier } from "./cache/local-tier.ts";
import { initRepository } from "./checkout/remote.ts";
import { EXIT, ExitError } from "./cli/exit-codes.ts";
import { forgetIdentity, type Identity, loadIdentity } from "./cli/identity.ts";
import { logger } from "./cli/logger.ts";
import { removeFromService } from "./cli/register.ts";
import { JobHooks } from "./hooks/job-hooks.ts";
import { lockAgent } from "./process/lock.ts";
import { ProcessTree } from "./process/process-tree.ts";
import { leaveNoCoreDumps, runShell, type StepUser } from "./process/step-user.ts";
import type { ToolSources } from "./tools/mise-program.ts";
import { findXcodes } from "./tools/xcodes.ts";
import type { JobAnswer } from "./wire/answers.ts";
import { sleep } from "./wire/auto-reset-event.ts";
import { backOffDelay, DEFAULT_BACK_OFF } from "./wire/back-off.ts";
import { ApiClient, describeAnswer } from "./wire/client.ts";
import { HintSocket, nextJob } from "./wire/next-job.ts";

interface AgentOptions {
  state: string;
  /** Parent of the builds' folders. */
  work: string;
  once: boolean;
  /** Byte limit for copies of cache entries. */
  cacheBytes: number;
  user: StepUser | null;
  toolSources: ToolSources;
  /** Milliseconds between a step's SIGTERM and SIGKILL. */
  grace: number;
  /** When aborted, the agent accepts no new build and finishes the active one. */
  drain: AbortSignal;
  /** When aborted, the agent stops the active build, too. */
  interrupt: AbortSignal;
}

/** Runs one build after another until `drain` is aborted, or only one with `once`. */
export const runAgent = async (options: AgentOptions): Promise<void> => {
  const registered = loadIdentity(options.state);
  leaveNoCoreDumps();
  makeWorkFolder(options.work, options.user);
  const unlock = lockAgent(options);
  const end = new AbortController();
  try {
    await checkStepUser(options);
    for (const path of findLeftovers(options.work, options.user)) await removeBuild(path, options);
    const hooks = await readyHooks(options, registered.token);
    const client = new ApiClient({
      url: registered.url,
      token: registered.token,
      bootId: randomUUID(),
      xcodes: findXcodes().map(({ version }) => version),
    });
    const hintSocket = new HintSocket({
      client,
      agentId: registered.id,
      heartbeatSeconds: registered.heartbeatSeconds,
      signal: end.signal,
    });
    const socketClosed = hintSocket.run();
    // The agent reports its version while the socket opens and the first build's folder is created.
    const updated = updateIdentity(client, registered, options.drain);
    const opened = hintSocket.firstAttempt(5000);
    const ready = Promise.all([updated, opened]).then(([identity]) => identity);
    ready.catch(() => {});
    await takeBuilds(client, ready, hintSocket, hooks, options);
    end.abort();
    await socketClosed;
    if (registered.isEphemeral) await deregisterEphemeral(registered, options.state);
  } catch (error) {
    if (!options.drain.aborted || error !== options.drain.reason) throw error;
  } finally {
    end.abort();
    unlock();
  }
};

/** Checks the steps' user. @throws ExitError when it cannot enter the work folder, or has processes that do not end */
const checkStepUser = async ({ work, user, grace }: AgentOptions): Promise<void> => {
  if (user === null) return;
  const { code } = await runShell(user, 'cd -- "$1"', [work]);
  if (code !== 0) throw new ExitError(`${user.name} cannot enter ${work}: choose another --work`, EXIT.usage);
  if (!(await new ProcessTree("start", { user }).terminate(grace)))
    throw new ExitError(`cannot end the processes of ${user.name}: end them, then restart the agent`, EXIT.failed);
};

/** Prepares the owner's hooks and cleans up after an earlier agent's last job. @throws ExitError */
const readyHooks = async ({ state, grace, interrupt }: AgentOptions, token: string): Promise<JobHooks> => {
  const hooks = new JobHooks({ state, grace });
  await hooks.recover(interrupt, [token]);
  mustBeReady(hooks);
  return hooks;
};

/** Requires a healthy machine. @throws ExitError when the owner must fix something before the next job */
const mustBeReady = ({ trouble }: JobHooks): void => {
  if (trouble === null) return;
  const advice = "fix this, then restart the agent";
  throw new ExitError(`this agent accepts no more jobs because of its hooks: ${trouble}: ${advice}`, EXIT.hooks);
};

/** The agent's settings at the service. A maintainer may have changed them since the agent registered. */
const ServiceSettings = z.pick(Agent, {
  name: true,
  canBuildIOS: true,
  canBuildAndroid: true,
  canBuildWeb: true,
  labels: true,
});

/** Reports the agent's version. @returns the identity with the service's current settings */
const updateIdentity = async (client: ApiClient, identity: Identity, signal: AbortSignal): Promise<Identity> => {
  const body = { version: VERSION };
  const answer = await client.send({ method: "PUT", path: `/buildagent/${identity.id}`, body, signal });
  if (answer.status !== 200) {
    logger.warn(`the service rejected this agent's version: ${describeAnswer(answer)}`);
    return identity;
  }
  const settings = ServiceSettings.safeParse(answer.body);
  return settings.success ? { ...identity, ...settings.data } : identity;
};

const deregisterEphemeral = async (identity: Identity, state: string): Promise<void> => {
  await removeFromService(identity);
  forgetIdentity(state);
  logger.info(`agent ${identity.name} is deregistered`);
};

const takeBuilds = async (
  client: ApiClient,
  ready: Promise<Identity>,
  hintSocket: HintSocket,
  hooks: JobHooks,
  options: AgentOptions,
): Promise<void> => {
  const tier = new LocalTier(join(options.state, "cache"), options.cacheBytes);
  let next = await nextFolder(options);
  try {
    const identity = await ready;
    const { id: agentId, pollSeconds } = identity;
    logger.info(`agent ${identity.name} waits for builds of ${identity.orgId} from ${identity.url}`);
    while (!options.drain.aborted) {
      next ??= await nextFolder(options);
      if (next === null) return;
      const job = await nextJob({ client, agentId, hintSocket, pollSeconds, signal: options.drain }).catch((error) => {
        if (options.drain.aborted) return null;
        throw error;
      });
      if (job === null) return;
      const folder = next;
      next = null;
      const { user, toolSources, grace, interrupt } = options;
      const { cancelHint, heartbeats, audience } = hintSocket;
      const session = {
        client,
        identity,
        folder,
        user,
        toolSources,
        tier,
        grace,
        cancelHint,
        heartbeats,
        audience,
        hooks,
        interrupt,
      };
      const hasPlanned = await runInFolder(job, session, options);
      mustBeReady(hooks);
      if ((options.once || identity.isEphemeral) && !hasPlanned) return;
    }
  } finally {
    if (next) await removeBuild(next.path, options);
  }
};

/**
 * Runs a build. A failed build does not end the agent, unless the service no longer accepts the agent.
 * @returns whether the build was only planned and ran nothing
 */
const runInFolder = async (job: JobAnswer, session: RunJobOptions, options: AgentOptions): Promise<boolean> => {
  let end: SessionEnd = { hasEnded: false, hasPlanned: false };
  const isOver = new AbortController();
  sayHowItStops(options, isOver.signal);
  try {
    end = await runJob(job, session);
  } catch (error) {
    if (error instanceof ExitError) throw error;
    logger.error(toBuildFailure(error).message);
  } finally {
    isOver.abort();
    await removeBuild(session.folder.path, options, end.hasEnded);
  }
  return end.hasPlanned;
};

/** Logs each signal's effect on the build, until the build ends. */
const sayHowItStops = ({ drain, interrupt }: AgentOptions, signal: AbortSignal): void => {
  const onDrain = () => logger.info("the agent exits after the active build; a second signal stops the build");
  const onInterrupt = () => logger.warn("second signal: stopping the active build");
  if (drain.aborted) onDrain();
  else drain.addEventListener("abort", onDrain, { signal });
  interrupt.addEventListener("abort", onInterrupt, { signal });
};

/**
 * Returns the next build's folder. Retries until the machine allows one. Returns null when the agent must accept no
 * more builds.
 */
const nextFolder = async (options: AgentOptions): Promise<BuildFolder | null> => {
  for (let failures = 0; !options.drain.aborted; failures++) {
    try {
      return await prepareFolder(options);
    } catch (error) {
      logger.error(`cannot create a folder for the next build, retrying: ${toBuildFailure(error).message}`);
      await sleep(backOffDelay(failures, DEFAULT_BACK_OFF, Math.random()), options.drain);
    }
  }
  return null;
};

/** Creates the folder and the empty repository before the job arrives, so that the build starts sooner. */
const prepareFolder = ({ work, user }: AgentOptions): Promise<BuildFolder> =>
  makeBuildFolder(work, user, ({ workspace }) => initRepository(workspace));

/**
 * Ends a build's processes and removes its folder before the agent creates the next one. The next build may need the
 * space, and a living process could read its secrets. `hasEnded` says that all the build's processes are known to have
 * ended.
 */
const removeBuild = async (path: string, { user, grace, drain }: AgentOptions, hasEnded = false): Promise<void> => {
  try {
    if (hasEnded) return await removeBuildFolder(path, user);
    while (!(await endAndRemoveBuild(path, user, grace)) && !drain.aborted)
      logger.error(`${path}: cannot end this build's processes; the agent accepts no other build until they end`);
  } catch (error) {
    logger.error(toBuildFailure(error).message);
  }
};
