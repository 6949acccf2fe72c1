import type { Matrix } from "../../../src/pipeline/graph/graph.ts";
import type { WrittenMatrix } from "../../../src/pipeline/graph/matrix.ts";

/*
 * A second version of GitHub's rule, as slow and plain as possible: it counts through every assignment, without any
 * function of the expansion. Each of the `faults` makes one place wrong.
 */
export type Fault =
  | "first axis fastest"
  | "include before exclude"
  | "original values change"
  | "the first extra wins"
  | "items meet each other"
  | "one key is enough to exclude"
  | "an item without axes is appended"
  | "fitting items are appended too"
  | "values are compared loosely";

const same = (a: unknown, b: unknown, fault?: Fault): boolean =>
  fault === "values are compared loosely" ? String(a).toLowerCase() === String(b).toLowerCase() : a === b;

/** Returns the assignment with this number, with the axes read as digits. */
const assignment = (axes: WrittenMatrix["axes"], number: number, fault?: Fault): Matrix => {
  const order = fault === "first axis fastest" ? [...axes.keys()] : [...axes.keys()].reverse();
  const chosen: Record<string, Matrix[string]> = {};
  let rest = number;
  for (const index of order) {
    const { name, values } = axes[index]!;
    chosen[name] = values[rest % values.length]!;
    rest = Math.floor(rest / values.length);
  }
  const inOrder: Matrix = {};
  for (const { name } of axes) inOrder[name] = chosen[name]!;
  return inOrder;
};

const isExcluded = (one: Matrix, exclude: Matrix[], fault?: Fault): boolean => {
  for (const item of exclude) {
    let fitting = 0;
    for (const key of Object.keys(item)) if (same(one[key], item[key], fault)) fitting++;
    if (fault === "one key is enough to exclude" ? fitting > 0 : fitting === Object.keys(item).length) return true;
  }
  return false;
};

/** Returns the combinations, even if the list is empty. */
export const slowMatrix = ({ axes, include, exclude }: WrittenMatrix, fault?: Fault): Matrix[] => {
  let count = axes.length === 0 ? 0 : 1;
  for (const { values } of axes) count *= values.length;
  const originals: Matrix[] = [];
  for (let number = 0; number < count; number++) {
    const one = assignment(axes, number, fault);
    if (fault === "include before exclude" || !isExcluded(one, exclude, fault)) originals.push(one);
  }
  const names = axes.map(({ name }) => name);
  const results = originals.map((one) => ({ ...one }));
  const appended: Matrix[] = [];
  for (const item of include) {
    const filter = Object.keys(item).filter((key) => names.includes(key));
    let fits = false;
    const candidates = fault === "items meet each other" ? [...results, ...appended] : results;
    if (!(fault === "an item without axes is appended" && filter.length === 0))
      for (const [index, result] of candidates.entries()) {
        const original = fault === "original values change" ? result : (originals[index] ?? result);
        if (!filter.every((key) => same(original[key], item[key], fault))) continue;
        fits = true;
        for (const key of Object.keys(item)) {
          if (names.includes(key)) continue;
          if (fault === "the first extra wins" && key in result) continue;
          result[key] = item[key]!;
        }
        if (fault === "original values change") result[names[0] ?? ""] = item[Object.keys(item)[0]!]!;
      }
    if (!fits || fault === "fitting items are appended too") appended.push({ ...item });
  }
  const all = [...results, ...appended];
  return fault === "include before exclude" ? all.filter((one) => !isExcluded(one, exclude)) : all;
};
