import { buildLogName, calling, gitHostName, poolName } from "../../domain/durable-objects.ts";
import type { GitHostObject } from "../../objects/host/git-host.ts";
import type { BuildLog } from "../../objects/log/build-log.ts";
import type { AgentPool } from "../../objects/pool/agent-pool.ts";

/**
 * Stubs of the Durable Objects. They check no caller: use them after `admit`, or with a token that the object checks.
 */
export class ObjectStubs {
  readonly #env: Pick<Env, "AGENT_POOL" | "BUILD_LOG" | "GIT_HOST">;

  constructor(env: Pick<Env, "AGENT_POOL" | "BUILD_LOG" | "GIT_HOST">) {
    this.#env = env;
  }

  /** Returns an organization's pool. `locationHint` affects only the call that creates the object. */
  pool(orgId: string, locationHint?: DurableObjectLocationHint): DurableObjectStub<AgentPool> {
    return calling(this.#env.AGENT_POOL.getByName(poolName(orgId), locationHint ? { locationHint } : undefined));
  }

  log(orgId: string, jobId: string): DurableObjectStub<BuildLog> {
    return calling(this.#env.BUILD_LOG.getByName(buildLogName(orgId, jobId)));
  }

  gitHost(orgId: string, connectionId: string): DurableObjectStub<GitHostObject> {
    return calling(this.#env.GIT_HOST.getByName(gitHostName(orgId, connectionId)));
  }
}
