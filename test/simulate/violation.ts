/** Something that must never happen has happened. `law` is the number of the invariant. */
export class Violation extends Error {
  override name = "Violation";
  readonly invariant: number;
  constructor(law: number, what: string) {
    super(`${law}: ${what}`);
    this.invariant = law;
  }
}

export function must(law: number, holds: boolean, what: string): asserts holds {
  if (!holds) throw new Violation(law, what);
}
