import { type Data, Dictionary, textData, toData } from "../expression/data.ts";
import { inputOf, inputProblem } from "../fields/input-fields.ts";
import type { InputScope, Template } from "../parse/plan.ts";
import { LocatedMistake } from "../yaml/located-mistake.ts";

/** Inputs that could not be evaluated are mistakes of the steps that read them, and of no others. */
class InputsContext extends Dictionary {
  readonly #mistakes: Map<string, LocatedMistake>;

  constructor(pairs: Map<string, Data>, mistakes: Map<string, LocatedMistake>) {
    super(pairs, () => ({ message: "This file has no such input", always: true }));
    this.#mistakes = mistakes;
  }
  override get(key: string): Data | undefined {
    const mistake = this.#mistakes.get(key);
    if (mistake) throw mistake;
    return super.get(key);
  }
  override pairs(): ReturnType<Dictionary["pairs"]> {
    for (const mistake of this.#mistakes.values()) throw mistake;
    return super.pairs();
  }
}

type Render = (template: Template) => { text: string; isSecret: boolean };
type Given = Exclude<
  InputScope["values"] extends Map<string, infer Value> ? Value : never,
  string | number | boolean | null
>;

const evaluated = (given: Given, render: Render): Data => {
  const { text: written, isSecret } = render(given.template);
  const value = inputOf(written, given);
  if (value === undefined) throw new LocatedMistake({ ...given.position, message: inputProblem(given) });
  return typeof value === "string" ? textData(value, isSecret) : toData(value, isSecret);
};

/** The context `inputs` of a file. `render` evaluates what the file that includes it writes in `with`. */
export const inputsDictionary = ({ values }: InputScope, render: Render): Dictionary => {
  const mistakes = new Map<string, LocatedMistake>();
  const pairs = new Map<string, Data>();
  for (const [name, value] of values) {
    if (typeof value !== "object" || value === null) {
      pairs.set(name, toData(value));
      continue;
    }
    try {
      pairs.set(name, evaluated(value, render));
    } catch (error) {
      if (!(error instanceof LocatedMistake)) throw error;
      mistakes.set(name, error);
    }
  }
  return new InputsContext(pairs, mistakes);
};
