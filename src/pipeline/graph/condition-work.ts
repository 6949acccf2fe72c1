import type { Data } from "../expression/data.ts";
import { ExpressionMistake } from "../expression/mistake.ts";

/** Characters that all conditions of a build may read and make while it is settled once: others wait for the pool. */
const MOST_WORK = 16 * 1024 * 1024;

/** @throws {ExpressionMistake} once the conditions of a build are too much work */
export class ConditionWork {
  #done = 0;

  count(characters: number): void {
    this.#done += characters;
    if (this.#done > MOST_WORK) throw new ExpressionMistake("The conditions of all jobs together read too much text");
  }

  /** Counts what a function is passed before it is called, and what it makes. */
  counted(args: readonly Data[], call: () => Data): Data {
    for (const one of args) this.#countData(one);
    const result = call();
    this.#countData(result);
    return result;
  }

  #countData(one: Data): void {
    this.count(one.primitive ? one.coerceString().length : 1);
  }
}
