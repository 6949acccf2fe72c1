import { type HostReport, toldState } from "../domain/githost/host-report.ts";
import { gitHostName } from "../domain/object-names.ts";
import type { HostResult } from "../domain/pool/host-outbox.ts";
import type { PoolState } from "../domain/pool/state.ts";
import type { PoolStorage } from "./agent-pool-storage.ts";
import type { GitHost } from "./git-host.ts";

/** Builds of one attempt. */
const BATCH_SIZE = 200;

/** Tells the objects of git hosts how builds are. May be repeated; a git host that is away holds up no other. */
export class HostOutbox {
  readonly #hosts: DurableObjectNamespace<GitHost>;
  readonly #storage: PoolStorage;
  /** How often a build could not be told: the others go first. */
  readonly #failures = new Map<string, number>();

  constructor(env: Pick<Env, "GIT_HOST">, storage: PoolStorage) {
    this.#hosts = env.GIT_HOST as DurableObjectNamespace<GitHost>;
    this.#storage = storage;
  }

  /** One attempt. @returns what was told */
  async deliver(orgId: string, { hostDue }: Readonly<PoolState>): Promise<HostResult> {
    const result: HostResult = { told: [], failed: false };
    const failuresOf = (buildId: string) => this.#failures.get(buildId) ?? 0;
    const ids = [...hostDue.keys()].sort((left, right) => failuresOf(left) - failuresOf(right)).slice(0, BATCH_SIZE);
    const byConnection = new Map<string, HostReport[]>();
    for (const buildId of ids) {
      const report = this.#storage.hostReport(buildId);
      if (!report) result.told.push({ buildId, state: null });
      else byConnection.set(report.connectionId, [...(byConnection.get(report.connectionId) ?? []), report]);
    }
    await Promise.all([...byConnection].map(([id, reports]) => this.#report(gitHostName(orgId, id), reports, result)));
    return result;
  }

  async #report(name: string, reports: HostReport[], result: HostResult): Promise<void> {
    try {
      const { hearsPhases } = await this.#hosts.getByName(name).report(reports);
      for (const report of reports) {
        const { buildId, version } = report;
        this.#failures.delete(buildId);
        result.told.push({ buildId, state: toldState(report, hearsPhases), version });
      }
    } catch (error) {
      for (const { buildId } of reports) this.#failures.set(buildId, (this.#failures.get(buildId) ?? 0) + 1);
      result.failed = true;
      console.error("pool: a git host's object could not be told; the next attempt will try again", name, error);
    }
  }
}
