import { DurableObject } from "cloudflare:workers";
import type {
  Actor,
  AgentChange,
  Beat,
  Claim,
  Delivery,
  FailClaim,
  FinishOf,
  Grant,
  Holder,
  NewAgent,
  NewBuild,
  ProgressOf,
  ReleaseOf,
  Result,
  RetryInputs,
  Unclaim,
} from "../domain/pool/commands.ts";
import type { Agent } from "../protocol/agent.ts";
import type { Build } from "../protocol/build.ts";
import type { Heartbeat } from "../protocol/jobs.ts";

const unbuilt = (): never => {
  throw new Error("The pool is not built yet");
};

/** The agents and live builds of one organization. */
export class AgentPool extends DurableObject<Env> {
  async enqueue(_build: NewBuild): Promise<Result<Build>> {
    return unbuilt();
  }
  async getBuild(_buildId: string): Promise<Result<Build>> {
    return unbuilt();
  }
  async liveBuilds(): Promise<Build[]> {
    return unbuilt();
  }
  async inputsOf(_buildId: string): Promise<Result<RetryInputs>> {
    return unbuilt();
  }
  async cancel(_order: { buildId: string; actor: Actor }): Promise<Result<Build>> {
    return unbuilt();
  }
  async hasLiveBuilds(_of: { repoId?: string; pipelineId?: string }): Promise<boolean> {
    return unbuilt();
  }
  async registerAgent(_agent: NewAgent): Promise<Result<Agent>> {
    return unbuilt();
  }
  async listAgents(): Promise<Agent[]> {
    return unbuilt();
  }
  async getAgent(_agentId: string): Promise<Result<Agent>> {
    return unbuilt();
  }
  async updateAgent(_agentId: string, _change: AgentChange, _actor: Actor): Promise<Result<Agent>> {
    return unbuilt();
  }
  async removeAgent(_agentId: string, _actor: Actor): Promise<Result<null>> {
    return unbuilt();
  }
  async authenticateAgent(_tokenHash: string): Promise<Result<{ agentId: string }>> {
    return unbuilt();
  }
  async claim(_claim: Claim): Promise<Result<Grant | null>> {
    return unbuilt();
  }
  async deliver(_delivery: Delivery): Promise<Result<{ build: Build; leaseExpiresAt: string }>> {
    return unbuilt();
  }
  async unclaim(_unclaim: Unclaim): Promise<Result<null>> {
    return unbuilt();
  }
  async failClaim(_fail: FailClaim): Promise<Result<Build>> {
    return unbuilt();
  }
  async start(_start: Holder): Promise<Result<Build>> {
    return unbuilt();
  }
  async heartbeat(_beat: Beat): Promise<Result<Heartbeat>> {
    return unbuilt();
  }
  async progress(_progress: ProgressOf): Promise<Result<null>> {
    return unbuilt();
  }
  async release(_release: ReleaseOf): Promise<Result<Build>> {
    return unbuilt();
  }
  async finish(_finish: FinishOf): Promise<Result<Build>> {
    return unbuilt();
  }
  async flagLeak(_leak: { buildId: string; fence: number }): Promise<Result<null>> {
    return unbuilt();
  }
  /** Ends what is overdue. */
  async sweep(): Promise<void> {
    return unbuilt();
  }
  /** Writes what D1 does not know yet. */
  async flush(): Promise<void> {
    return unbuilt();
  }
}
