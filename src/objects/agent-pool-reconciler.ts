import { readPool } from "../db/projection.ts";
import type { Result } from "../domain/pool/commands.ts";
import { type HeardSequence, NOTHING_HEARD } from "../domain/pool/facts.ts";
import type { Reconciled } from "../domain/pool/reconcile.ts";
import type { PoolState } from "../domain/pool/state.ts";
import type { Command, Input, Output } from "../domain/pool/step.ts";
import { readBuilds, readSince } from "./agent-pool-stored-builds.ts";

interface Engine {
  readonly orgId: string;
  readonly state: Readonly<PoolState>;
  step<C extends Command>(command: C, input: Input<C>): Result<Output<C>>;
}

/** Reads from D1 what a restore of D1 or of this pool made one of them forget. */
export class Reconciler {
  readonly #db: D1Database;
  readonly #engine: Engine;

  constructor(db: D1Database, engine: Engine) {
    this.#db = db;
    this.#engine = engine;
  }

  /** Compares the sequences, and reads the rest where the pool was restored. @throws where D1 does not answer */
  async compare(): Promise<void> {
    const { results } = await readPool(this.#db, this.#engine.orgId).all<HeardSequence>();
    const compared = this.#engine.step("compare", { found: results[0] ?? NOTHING_HEARD });
    if (!compared.ok) throw new Error(compared.refusal.detail);
    if (compared.value === "pool") await this.#readAgain();
  }

  async reconcile(ids: string[]): Promise<Result<Reconciled>> {
    return this.#engine.step("reconcile", await readBuilds(this.#db, this.#engine.orgId, ids));
  }

  async restored(what: "database" | "pools"): Promise<Result<Reconciled>> {
    return what === "pools" ? this.#readAgain() : this.#engine.step("databaseRestored", null);
  }

  async #readAgain(): Promise<Result<Reconciled>> {
    const { orgId, state } = this.#engine;
    const ids = [...state.builds.keys(), ...state.dirty.keys()];
    const stored = await readSince(this.#db, orgId, state.unchecked ?? state.told, ids);
    return this.#engine.step("reconcile", stored);
  }
}
