import type { Mistake } from "./mistake.ts";

/** A mistake found while a step is prepared, with its position in the file. */
export class LocatedMistake extends Error {
  readonly mistake: Mistake;
  constructor(mistake: Mistake) {
    super(mistake.message);
    this.mistake = mistake;
  }
}
