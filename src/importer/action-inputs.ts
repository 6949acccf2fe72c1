import { type MarkKind, NoEqual } from "./marks.ts";
import { type Pair, type Source, tokenText } from "./source.ts";

/** The inputs of a step that uses an action. An input that nothing reads changes what the action does. */
export class ActionInputs {
  readonly #pairs: Map<string, Pair>;
  readonly #source: Source;
  /** The mark of an input that is computed. */
  readonly kind: MarkKind;

  constructor(inputs: Pair[], source: Source, kind: MarkKind = "action-input") {
    this.kind = kind;
    this.#pairs = new Map(inputs.map((pair) => [pair.key.toLowerCase(), pair]));
    this.#source = source;
  }

  has(key: string): boolean {
    return this.peek(key) !== undefined;
  }

  /** Returns an input's text without marking the input as read. */
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

  /** Returns an input's text; undefined for a missing or empty input. */
  text(key: string): string | undefined {
    const text = this.peek(key);
    this.#pairs.delete(key);
    return text;
  }

  /** Returns a text that is the same in each run. @throws {NoEqual} */
  fixed(key: string): string | undefined {
    const text = this.text(key);
    if (text?.includes("${{")) throw new NoEqual(`\`${key}: ${text}\`, which is computed`, this.kind);
    return text;
  }

  /** Reports whether an input is on. A missing input has the default; a computed one counts as on. */
  isOn(key: string, isDefault = false): boolean {
    const text = this.text(key);
    return text === undefined ? isDefault : text.toLowerCase() !== "false";
  }

  /** Returns the items of a list: one on each line, or separated by commas. */
  list(key: string): string[] {
    return (this.fixed(key) ?? "").split(/[\n,]/).flatMap((one) => one.trim() || []);
  }

  /** Marks inputs as read that change nothing here. */
  pass(...keys: string[]): void {
    for (const key of keys) this.#pairs.delete(key);
  }

  /** Returns the unread inputs with their texts. */
  rest(): { key: string; text: string; line: number }[] {
    return [...this.#pairs.values()].map(({ key, value, line }) => ({
      key,
      text: tokenText(value, this.#source),
      line,
    }));
  }
}
