import { isEqual } from "../../../src/importer/names.ts";

export type Value = string | number | boolean;
export type Combination = Record<string, Value>;

export interface WrittenMatrix {
  axes: Record<string, Value[]>;
  include: Combination[];
  exclude: Combination[];
}

/**
 * Returns the combinations by GitHub's rule. Values have types, and `same` compares them:
 * https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idstrategymatrixinclude
 */
export const combinationsThere = ({ axes, include, exclude }: WrittenMatrix, same = isEqual): Combination[] => {
  const fits = (one: Combination, filter: [string, Value][]) =>
    filter.every(([key, value]) => key in one && same(one[key]!, value));
  let all: Combination[] = [{}];
  for (const [name, values] of Object.entries(axes))
    all = all.flatMap((one) => values.map((value) => ({ ...one, [name]: value })));
  const kept = all.filter((one) => !exclude.some((item) => fits(one, Object.entries(item))));
  const extended = kept.map((one) => ({ ...one }));
  const appended: Combination[] = [];
  for (const item of include) {
    const filter = Object.entries(item).filter(([key]) => key in axes);
    const found = [...kept.keys()].filter((index) => fits(kept[index]!, filter));
    for (const index of found)
      for (const [key, value] of Object.entries(item)) if (!(key in axes)) extended[index]![key] = value;
    if (found.length === 0) appended.push(item);
  }
  return [...extended, ...appended];
};
