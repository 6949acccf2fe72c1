import type { KnownNames } from "../expression/check.ts";
import type { InputScope } from "../parse/plan.ts";
import type { IncludeCall } from "../parse/step-list.ts";
import { TemplateParser } from "../yaml/template-parser.ts";

/** The names that expressions in an included file can read. */
export const namesOf = (scope: InputScope | undefined): Pick<KnownNames, "inputs"> =>
  scope ? { inputs: [...scope.values.keys()] } : {};

/** The inputs of the included files of one job. Steps of the same include share them. */
export class InputScopes {
  readonly #known = new Map<IncludeCall, Map<InputScope | undefined, InputScope>>();

  /** `calls` begins with the innermost; `known` is what the step's own expressions can name. */
  of(calls: IncludeCall[], known: KnownNames): InputScope | undefined {
    const [call, ...around] = calls;
    if (!call) return undefined;
    const outer = this.of(around, known);
    const scopes = this.#known.get(call) ?? new Map<InputScope | undefined, InputScope>();
    this.#known.set(call, scopes);
    const scope = scopes.get(outer) ?? scopeOf(call, outer, known);
    scopes.set(outer, scope);
    return scope;
  }
}

const scopeOf = ({ context, inputs }: IncludeCall, outer: InputScope | undefined, known: KnownNames): InputScope => {
  const parser = new TemplateParser(context, { ...known, ...namesOf(outer) });
  const values: InputScope["values"] = new Map();
  for (const { input, value } of inputs) {
    const { name, type, options } = input;
    if (typeof value !== "object" || value === null) values.set(name, value);
    else
      values.set(name, {
        type,
        options,
        template: parser.template(value),
        position: context.positionAt(value.node.range?.[0] ?? 0),
      });
  }
  return outer ? { values, outer } : { values };
};
