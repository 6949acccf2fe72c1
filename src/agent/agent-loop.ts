import { randomUUID } from "node:crypto";
import { announce } from "./announce.ts";
import { asUser } from "./as-user.ts";
import { type BuildFolder, clearBuild, leftoversIn, makeBuildFolder, makeWorkFolder } from "./build-folder.ts";
import { runJob } from "./build-session.ts";
import { platformCode } from "./capabilities.ts";
import { makeRepository } from "./checkout.ts";
import { Client, wordOf } from "./client.ts";
import { EXIT, Stop } from "./exit-codes.ts";
import { localFailure } from "./failure.ts";
import { Hints } from "./hints.ts";
import { forgetIdentity, type Identity, loadIdentity } from "./identity.ts";
import { lockAgent } from "./lock.ts";
import { nextJob } from "./poll.ts";
import { ProcessTree } from "./process-tree.ts";
import { removeFromService } from "./register.ts";
import type { StepUser } from "./step-user.ts";
import { VERSION } from "./version.ts";

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
  const identity = loadIdentity(options.state);
  makeWorkFolder(options.work, options.user);
  const unlock = lockAgent(options);
  const end = new AbortController();
  try {
    await readyUser(options);
    for (const path of leftoversIn(options.work, options.user)) await clear(path, options);
    const client = new Client({ url: identity.url, token: identity.token, bootId: randomUUID() });
    await introduce(client, identity, options.drain);
    const hints = new Hints({
      client,
      agentId: identity.id,
      everySeconds: identity.heartbeatSeconds,
      signal: end.signal,
    });
    const listening = hints.run();
    await hints.settled(5000);
    announce.info(`agent ${identity.name} waits for builds of ${identity.orgId} from ${identity.url}`);
    await takeBuilds(client, identity, hints, options);
    end.abort();
    await listening;
    if (identity.isEphemeral) {
      await removeFromService(identity);
      forgetIdentity(options.state);
      announce.info(`agent ${identity.name} is deregistered`);
    }
  } catch (error) {
    if (!options.drain.aborted || error !== options.drain.reason) throw error;
  } finally {
    end.abort();
    unlock();
  }
};

const takeBuilds = async (client: Client, identity: Identity, hints: Hints, options: AgentOptions): Promise<void> => {
  let next: Promise<BuildFolder> | null = null;
  try {
    while (!options.drain.aborted) {
      next ??= prepare(options);
      const folder = await next;
      const { pollSeconds, id: agentId } = identity;
      const job = await nextJob({ client, agentId, hints, pollSeconds, signal: options.drain }).catch((error) => {
        if (options.drain.aborted) return null;
        throw error;
      });
      if (job === null) return;
      next = null;
      const { user, grace, interrupt } = options;
      const session = { client, identity, folder, user, grace, interrupt, cancelHint: hints.cancel };
      await runJob(job, session).finally(() => clear(folder.path, options));
      if (options.once || identity.isEphemeral) return;
    }
  } finally {
    if (next) await clear((await next).path, options);
  }
};

/** @throws Stop when the steps' user could run nothing here, or already runs something that does not end. */
const readyUser = async ({ work, user, grace }: AgentOptions): Promise<void> => {
  if (user === null) return;
  const { code } = await asUser(user, 'cd -- "$1"', [work]);
  if (code !== 0) throw new Stop(`${user.name} may not enter ${work}: choose another --work`, EXIT.usage);
  if (!(await new ProcessTree("start", { user }).end(grace)))
    throw new Stop(`processes of ${user.name} are running and do not end: see to them first`, EXIT.failed);
};

/**
 * Removes all that a build has left. The next one does not begin while something of this one lives: it could read
 * the next one's secrets.
 */
const clear = async (path: string, { user, grace, drain }: AgentOptions): Promise<void> => {
  try {
    while (!(await clearBuild(path, user, grace)) && !drain.aborted)
      announce.error(`${path}: what this build has started does not end; no other begins until it does`);
  } catch (error) {
    announce.error(localFailure(error).message);
  }
};

/** What a build needs that does not depend on it, made while there is time. */
const prepare = async ({ work, user }: AgentOptions): Promise<BuildFolder> => {
  const folder = await makeBuildFolder(work, user);
  await makeRepository(folder.workspace);
  return folder;
};

/** What it is and can may have changed since it registered; a service that refuses keeps what it knew. */
const introduce = async (client: Client, identity: Identity, signal: AbortSignal): Promise<void> => {
  const { canBuildIOS, canBuildAndroid, canBuildWeb } = identity;
  const body = { platform: platformCode(), canBuildIOS, canBuildAndroid, canBuildWeb, version: VERSION };
  const answer = await client.send({ method: "PUT", path: `/buildagent/${identity.id}`, body, signal });
  if (answer.status !== 200) announce.warn(`the service keeps what it knew of this agent: ${wordOf(answer)}`);
};
