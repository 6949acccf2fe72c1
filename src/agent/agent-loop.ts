import { randomUUID } from "node:crypto";
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
} from "./build-folder.ts";
import { runJob } from "./build-session.ts";
import { initRepository } from "./checkout/remote.ts";
import { EXIT, ExitError } from "./cli/exit-codes.ts";
import { forgetIdentity, type Identity, loadIdentity } from "./cli/identity.ts";
import { logger } from "./cli/logger.ts";
import { removeFromService } from "./cli/register.ts";
import { toBuildFailure } from "./failure.ts";
import { runShell } from "./process/as-user.ts";
import { lockAgent } from "./process/lock.ts";
import { ProcessTree } from "./process/process-tree.ts";
import type { StepUser } from "./process/step-user.ts";
import { AutoResetEvent } from "./wire/auto-reset-event.ts";
import { backOffDelay, DEFAULT_BACK_OFF } from "./wire/back-off.ts";
import { Client, describeAnswer } from "./wire/client.ts";
import { HintSocket } from "./wire/hint-socket.ts";
import { nextJob } from "./wire/poll.ts";

export interface AgentOptions {
  state: string;
  /** Where the folders of builds lie. */
  work: string;
  once: boolean;
  user: StepUser | null;
  /** Milliseconds between SIGTERM and SIGKILL of a step. */
  grace: number;
  /** Aborted: take nothing new, finish what is under way. */
  drain: AbortSignal;
  /** Aborted: stop what is under way too. */
  interrupt: AbortSignal;
}

/** Takes builds one after the other until it is told to stop, or after one with `once`. */
export const runAgent = async (options: AgentOptions): Promise<void> => {
  const registered = loadIdentity(options.state);
  makeWorkFolder(options.work, options.user);
  const unlock = lockAgent(options);
  const end = new AbortController();
  try {
    await readyUser(options);
    for (const path of findLeftovers(options.work, options.user)) await clear(path, options);
    const client = new Client({ url: registered.url, token: registered.token, bootId: randomUUID() });
    const identity = await introduce(client, registered, options.drain);
    const hints = new HintSocket({
      client,
      agentId: identity.id,
      heartbeatSeconds: identity.heartbeatSeconds,
      signal: end.signal,
    });
    const listening = hints.run();
    await hints.firstAttempt(5000);
    logger.info(`agent ${identity.name} waits for builds of ${identity.orgId} from ${identity.url}`);
    await takeBuilds(client, identity, hints, options);
    end.abort();
    await listening;
    if (identity.isEphemeral) {
      await removeFromService(identity);
      forgetIdentity(options.state);
      logger.info(`agent ${identity.name} is deregistered`);
    }
  } catch (error) {
    if (!options.drain.aborted || error !== options.drain.reason) throw error;
  } finally {
    end.abort();
    unlock();
  }
};

const takeBuilds = async (
  client: Client,
  identity: Identity,
  hints: HintSocket,
  options: AgentOptions,
): Promise<void> => {
  let next: BuildFolder | null = null;
  try {
    while (!options.drain.aborted) {
      next ??= await prepared(options);
      if (next === null) return;
      const { pollSeconds, id: agentId } = identity;
      const job = await nextJob({ client, agentId, hintSocket: hints, pollSeconds, signal: options.drain }).catch(
        (error) => {
          if (options.drain.aborted) return null;
          throw error;
        },
      );
      if (job === null) return;
      const folder = next;
      next = null;
      const { user, grace, interrupt } = options;
      const session = { client, identity, folder, user, grace, interrupt, cancelHint: hints.cancelHint };
      let isQuiet = false;
      try {
        isQuiet = await runJob(job, session);
      } catch (error) {
        survived(error);
      } finally {
        await clear(folder.path, options, isQuiet);
      }
      if (options.once || identity.isEphemeral) return;
    }
  } finally {
    if (next) await clear(next.path, options);
  }
};

/** @throws Stop when the steps' user could run nothing here, or already runs something that does not end. */
const readyUser = async ({ work, user, grace }: AgentOptions): Promise<void> => {
  if (user === null) return;
  const { code } = await runShell(user, 'cd -- "$1"', [work]);
  if (code !== 0) throw new ExitError(`${user.name} may not enter ${work}: choose another --work`, EXIT.usage);
  if (!(await new ProcessTree("start", { user }).terminate(grace)))
    throw new ExitError(`processes of ${user.name} are running and do not end: see to them first`, EXIT.failed);
};

/**
 * Removes all that a build has left, before the next folder is made: what it held may be what that one needs, and while
 * something of it lives it could read the next one's secrets. `isQuiet`: it is known that nothing does.
 */
const clear = async (path: string, { user, grace, drain }: AgentOptions, isQuiet = false): Promise<void> => {
  try {
    if (isQuiet) return await removeBuildFolder(path, user);
    while (!(await endAndRemoveBuild(path, user, grace)) && !drain.aborted)
      logger.error(`${path}: what this build has started does not end; no other begins until it does`);
  } catch (error) {
    logger.error(toBuildFailure(error).message);
  }
};

/** The end of one build is no end of the agent, unless the service has no more use for it. */
const survived = (error: unknown): void => {
  if (error instanceof ExitError) throw error;
  logger.error(toBuildFailure(error).message);
};

/** The folder of the next build, made as soon as the machine allows it; null when there is to be no next build. */
const prepared = async (options: AgentOptions): Promise<BuildFolder | null> => {
  for (let failures = 0; !options.drain.aborted; failures++) {
    try {
      return await prepare(options);
    } catch (error) {
      logger.error(`no folder for the next build, trying again: ${toBuildFailure(error).message}`);
      await new AutoResetEvent().wait(backOffDelay(failures, DEFAULT_BACK_OFF, Math.random()), options.drain);
    }
  }
  return null;
};

/** What a build needs that does not depend on it, made while there is time. */
const prepare = async (options: AgentOptions): Promise<BuildFolder> => {
  const folder = await makeBuildFolder(options.work, options.user);
  try {
    await initRepository(folder.workspace);
    return folder;
  } catch (error) {
    await clear(folder.path, options);
    throw error;
  }
};

/** What an agent is for was settled when it registered; what a maintainer changed since, the service tells. */
const Skills = z.pick(Agent, {
  ...{ name: true, canBuildIOS: true, canBuildAndroid: true, canBuildWeb: true, labels: true },
});

/** Tells the service which version runs now. @returns the identity with what the service says of it */
const introduce = async (client: Client, identity: Identity, signal: AbortSignal): Promise<Identity> => {
  const body = { version: VERSION };
  const answer = await client.send({ method: "PUT", path: `/buildagent/${identity.id}`, body, signal });
  if (answer.status !== 200) logger.warn(`the service keeps what it knew of this agent: ${describeAnswer(answer)}`);
  const skills = answer.status === 200 ? Skills.safeParse(answer.body) : null;
  return skills?.success ? { ...identity, ...skills.data } : identity;
};
