import { INVARIANTS, type Invariant } from "./invariants.ts";

/** A violated invariant. */
export class Violation extends Error {
  override name = "Violation";
  readonly invariant: Invariant;

  constructor(invariant: Invariant, detail: string) {
    super(`invariant ${invariant} (${INVARIANTS[invariant]}): ${detail}`);
    this.invariant = invariant;
  }
}

/** Asserts a part of an invariant. `detail` says what is wrong if it does not hold. @throws Violation */
export function must(invariant: Invariant, holds: boolean, detail: string): asserts holds {
  if (!holds) throw new Violation(invariant, detail);
}
