import { data } from "@actions/expressions";
import type { ExpressionData, Pair } from "@actions/expressions/data/expressiondata";

export type Data = ExpressionData;

/** A text or number from a secret. Values computed from it are secret, too. */
class SecretText extends data.StringData {}
class SecretNumber extends data.NumberData {}

/** Reports whether printing this value would reveal a secret. */
export const isSecretData = (value: Data): boolean => value instanceof SecretText || value instanceof SecretNumber;

/** The mistake to report for a missing key. With `always`, report it also in places where an unknown name is null. */
export interface MissingKey {
  message: string;
  suggestion?: string | undefined;
  always?: boolean;
}

/**
 * A dictionary that keeps all keys, and that finds only exact names if it has `missing`. The library's dictionary loses
 * keys that are names of Object.prototype (`constructor`, `__proto__`) and ignores letter case.
 */
export class Dictionary extends data.Dictionary {
  readonly #pairs = new Map<string, Data>();
  readonly #folded = new Map<string, Data>();
  readonly missing: ((key: string) => MissingKey | null) | undefined;

  constructor(pairs: Iterable<readonly [string, Data]>, missing?: (key: string) => MissingKey | null) {
    super();
    this.missing = missing;
    for (const [key, value] of pairs) this.add(key, value);
  }
  override add(key: string, value: Data): void {
    if (!this.#pairs.has(key)) this.#pairs.set(key, value);
    if (this.missing) return;
    const folded = key.toLowerCase();
    if (!this.#folded.has(folded)) this.#folded.set(folded, value);
  }
  /** Adds a pair or replaces its value. */
  set(key: string, value: Data): void {
    this.#pairs.set(key, value);
    if (!this.missing) this.#folded.set(key.toLowerCase(), value);
  }
  override get(key: string): Data | undefined {
    return this.#pairs.get(key) ?? (this.missing ? undefined : this.#folded.get(key.toLowerCase()));
  }
  override values(): Data[] {
    return [...this.#pairs.values()];
  }
  override pairs(): Pair[] {
    return [...this.#pairs].map(([key, value]) => ({ key, value }));
  }
}

export const textData = (value: string, isSecret = false): Data =>
  isSecret ? new SecretText(value) : new data.StringData(value);

/** Converts a JSON value. The caller limits its depth. */
export const toData = (value: unknown, isSecret = false): Data => {
  if (typeof value === "string") return textData(value, isSecret);
  if (typeof value === "number") return isSecret ? new SecretNumber(value) : new data.NumberData(value);
  if (typeof value === "boolean") return new data.BooleanData(value);
  if (value === null || value === undefined) return new data.Null();
  if (!Array.isArray(value))
    return new Dictionary(Object.entries(value).map(([key, one]) => [key, toData(one, isSecret)]));
  const array = new data.Array();
  for (const one of value) array.add(toData(one, isSecret));
  return array;
};
