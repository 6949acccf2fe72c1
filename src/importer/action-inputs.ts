import { NoEqual } from "./marks.ts";
import { type Pair, type Source, tokenText } from "./source.ts";

/** The inputs of a step that uses an action. What nobody has asked for changes what the action does. */
export class ActionInputs {
  readonly #pairs: Map<string, Pair>;
  readonly #source: Source;

  constructor(inputs: Pair[], source: Source) {
    this.#pairs = new Map(inputs.map((pair) => [pair.key.toLowerCase(), pair]));
    this.#source = source;
  }

  has(key: string): boolean {
    return this.peek(key) !== undefined;
  }

  /** The text of an input, which somebody else still has to ask for. */
  peek(key: string): string | undefined {
    const pair = this.#pairs.get(key);
    const text = pair && tokenText(pair.value, this.#source).trim();
    return text === "" ? undefined : text;
  }

  pair(key: string): Pair | undefined {
    const pair = this.#pairs.get(key);
    this.#pairs.delete(key);
    return pair;
  }

  /** The text of an input; undefined where it is left out or empty. */
  text(key: string): string | undefined {
    const text = this.peek(key);
    this.#pairs.delete(key);
    return text;
  }

  /** A text that is the same in each run. @throws {NoEqual} */
  fixed(key: string): string | undefined {
    const text = this.text(key);
    if (text?.includes("${{")) throw new NoEqual(`\`${key}: ${text}\`, which is computed`, "action-input");
    return text;
  }

  /** Whether an input is on, as `default` says where it is left out. One that is computed counts as on. */
  isOn(key: string, isDefault = false): boolean {
    const text = this.text(key);
    return text === undefined ? isDefault : text.toLowerCase() !== "false";
  }

  /** Items of a list, one a line or with commas between them. */
  list(key: string): string[] {
    return (this.fixed(key) ?? "").split(/[\n,]/).flatMap((one) => one.trim() || []);
  }

  /** Takes the inputs that change nothing here. */
  pass(...keys: string[]): void {
    for (const key of keys) this.#pairs.delete(key);
  }

  /** What nobody has asked for, with its text. */
  rest(): { key: string; text: string; line: number }[] {
    return [...this.#pairs.values()].map(({ key, value, line }) => ({
      key,
      text: tokenText(value, this.#source),
      line,
    }));
  }
}
