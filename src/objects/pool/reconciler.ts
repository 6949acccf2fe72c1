import { readPoolAndLimits } from "../../db/projection.ts";
import { limitsOf, type OrganizationLimits, type OwnLimits } from "../../protocol/organization-limits.ts";
import type { Result } from "../../queue/commands/commands.ts";
import type { Reconciled } from "../../queue/commands/reconcile.ts";
import type { Command, InputOf, OutputOf } from "../../queue/commands/step.ts";
import type { PoolState } from "../../queue/state/state.ts";
import { type HeardSequence, NOTHING_HEARD } from "../../queue/state/stored.ts";
import { SingleFlight } from "../single-flight.ts";
import { CALLER_WAIT_MS, within } from "../within.ts";
import { readBuilds, readSince } from "./stored-builds.ts";

/** What decides in the pool, as those see it that work with D1. */
export interface Machine {
  readonly orgId: string;
  readonly state: Readonly<PoolState>;
  limits: OrganizationLimits;
  step<C extends Command>(command: C, input: InputOf<C>): Result<OutputOf<C>>;
}

/** Reads from D1 what a restore of D1 or of this pool made one of them forget. */
export class Reconciler {
  readonly #db: D1Database;
  readonly #machine: Machine;
  readonly #comparing = new SingleFlight(() => this.#compare());

  constructor(db: D1Database, machine: Machine) {
    this.#db = db;
    this.#machine = machine;
  }

  /** D1 is compared with the pool since this object was loaded. @throws where D1 does not answer */
  async compared(): Promise<void> {
    if (this.#machine.state.unchecked !== null) await this.#comparing.run();
  }

  /** The same, but not for longer than a second, and without a comparison where D1 is away. */
  async comparedSoon(): Promise<void> {
    if (this.#machine.state.unchecked === null) return;
    const tried = this.compared().catch((error) => console.error("pool: D1 could not be compared", error));
    await within(CALLER_WAIT_MS, tried);
  }

  /** Takes over what D1 knows of these builds, which it has under way. @throws where D1 does not answer */
  async reconcile(ids: string[]): Promise<Result<Reconciled>> {
    await this.compared();
    return this.#machine.step("reconcile", await readBuilds(this.#db, this.#machine.orgId, ids));
  }

  /** An operator says what was restored. @throws where D1 does not answer */
  async restored(what: "database" | "pools"): Promise<Result<Reconciled>> {
    return what === "pools" ? this.#readAgain() : this.#machine.step("databaseRestored", null);
  }

  /** Compares the sequences, and reads the rest where the pool was restored. */
  async #compare(): Promise<void> {
    const row = await readPoolAndLimits(this.#db, this.#machine.orgId).first<
      HeardSequence & { limits: string | null }
    >();
    const found = row?.sequence == null ? NOTHING_HEARD : { sequence: row.sequence, complete: row.complete };
    this.#machine.limits = limitsOf(row?.limits ? (JSON.parse(row.limits) as OwnLimits) : null);
    const compared = this.#machine.step("compare", { found });
    if (!compared.ok) throw new Error(compared.refusal.detail);
    if (compared.value === "pool") await this.#readAgain();
  }

  async #readAgain(): Promise<Result<Reconciled>> {
    const { orgId, state } = this.#machine;
    const ids = [...[...state.builds.keys()], ...state.outbox.lists.due.keys()];
    const stored = await readSince(this.#db, orgId, state.unchecked ?? state.told, ids);
    return this.#machine.step("reconcile", stored);
  }
}
