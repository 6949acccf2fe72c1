import { groupBy } from "../../domain/group-by.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Matrix } from "./graph.ts";

/** In one line: what a value makes of a name must not break a log. */
export const inOneLine = (value: string): string => value.replaceAll(/[\x00-\x1F\x7F-\x9F\u2028\u2029]+/g, " ");

/** The beginning of a text, without half a character at its end. */
export const beginning = (text: string, characters: number): string =>
  text.slice(0, characters).replace(/[\uD800-\uDBFF]$/, "");

const keyWith = (definition: string, values: (string | boolean)[]): string =>
  beginning(inOneLine(`${definition} (${values.join(", ")})`), LIMITS.jobNameCharacters);

/**
 * The keys of a definition's jobs, `test (26.10, phone)`: by the values of the axes, where these tell the combinations
 * apart, else by all values, else with a number behind. In the order of the combinations.
 */
export const keysOf = (definition: string, axes: readonly string[], combinations: readonly Matrix[]): string[] => {
  const short = combinations.map((one) => {
    const values = axes.flatMap((axis) => (Object.hasOwn(one, axis) ? [one[axis]!] : []));
    return keyWith(definition, values.length > 0 ? values : Object.values(one));
  });
  const counts = groupBy(short, (key) => key);
  const seen = new Set<string>();
  return combinations.map((one, index) => {
    const alone = counts.get(short[index]!)!.length === 1;
    const key = alone ? short[index]! : keyWith(definition, Object.values(one));
    let unique = key;
    for (let number = 2; seen.has(unique) || (unique !== short[index] && counts.has(unique)); number++)
      unique = `${key} #${number}`;
    seen.add(unique);
    return unique;
  });
};
