import { LIMITS } from "../../protocol/limits.ts";
import type { Matrix, MatrixValue } from "./graph.ts";

/** A matrix as the file writes it. */
export interface WrittenMatrix {
  axes: { name: string; values: MatrixValue[] }[];
  include: Matrix[];
  exclude: Matrix[];
}

/** A problem with the matrix itself, or with one item of its lists. */
interface MatrixProblem {
  at: "matrix" | "include" | "exclude";
  index: number;
  message: string;
}

type ExpandedMatrix =
  | { combinations: Matrix[]; problems?: undefined }
  | { combinations?: undefined; problems: MatrixProblem[] };

/** Maximum combinations of the axes that are compared with `exclude`. */
const MOST_BEFORE_EXCLUDE = 4 * LIMITS.jobs;

/** Maximum names of axes and of the additional keys of `include`, because each combination may get all of them. */
const MOST_KEYS = 100;

const TOO_MANY = `A build has at most ${LIMITS.jobs} jobs`;

const matches = (combination: Matrix, filter: [string, MatrixValue][]): boolean =>
  filter.every(([key, value]) => combination[key] === value);

/** Returns the cross product in the order written. The last axis changes first. */
const crossProduct = (axes: WrittenMatrix["axes"]): Matrix[] => {
  if (axes.length === 0) return [];
  return axes.reduce<Matrix[]>(
    (all, { name, values }) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  );
};

/** Finds problems with the lists as written. */
const findProblems = ({ axes, include, exclude }: WrittenMatrix): MatrixProblem[] => {
  const names = new Set(axes.map(({ name }) => name));
  const problems: MatrixProblem[] = [];
  for (const [index, item] of include.entries())
    if (Object.keys(item).length === 0)
      problems.push({ at: "include", index, message: "An item of `include` has no keys" });
  for (const [index, item] of exclude.entries()) {
    const keys = Object.keys(item);
    if (keys.length === 0) problems.push({ at: "exclude", index, message: "An item of `exclude` has no keys" });
    else if (!keys.every((key) => names.has(key)))
      problems.push({
        at: "exclude",
        index,
        message: "Only axes can be excluded, and one of these keys is not an axis",
      });
  }
  if (new Set([...names, ...include.flatMap((item) => Object.keys(item))]).size > MOST_KEYS)
    problems.push({ at: "matrix", index: 0, message: `A matrix has at most ${MOST_KEYS} different keys` });
  if (axes.length === 0 && include.length === 0)
    problems.push({ at: "matrix", index: 0, message: "A matrix needs an axis, or `include`" });
  if (axes.reduce((count, { values }) => count * values.length, 1) > MOST_BEFORE_EXCLUDE)
    problems.push({ at: "matrix", index: 0, message: `${TOO_MANY}: this matrix has far more combinations` });
  return problems;
};

const applyExclude = (all: Matrix[], exclude: Matrix[], problems: MatrixProblem[]): Matrix[] => {
  const filters = exclude.map((item) => Object.entries(item));
  const idle = new Set(filters.keys());
  const rest = all.filter((one) => {
    let isKept = true;
    for (const [index, filter] of filters.entries()) {
      if (!matches(one, filter)) continue;
      idle.delete(index);
      isKept = false;
    }
    return isKept;
  });
  for (const index of idle)
    problems.push({ at: "exclude", index, message: "No combination of the axes has these values" });
  return rest;
};

/**
 * Adds the additional keys of each item to the combinations that the item fits. Appends the items that fit no
 * combination.
 */
const applyInclude = (combinations: Matrix[], { axes, include }: WrittenMatrix): Matrix[] => {
  const names = new Set(axes.map(({ name }) => name));
  const extended = combinations.map((one) => ({ ...one }));
  const appended = include.filter((item) => {
    const entries = Object.entries(item);
    const filter = entries.filter(([key]) => names.has(key));
    const extra = Object.fromEntries(entries.filter(([key]) => !names.has(key)));
    const fitting = extended.filter((one) => matches(one, filter));
    for (const one of fitting) Object.assign(one, extra);
    return fitting.length === 0;
  });
  return [...extended, ...appended];
};

/**
 * Returns the combinations of a matrix by GitHub's rule and in its order. Compares values exactly. Here an item of
 * `exclude` that fits nothing is a problem, and so is a matrix without remaining combinations.
 */
export const expandMatrix = (matrix: WrittenMatrix): ExpandedMatrix => {
  const problems = findProblems(matrix);
  if (problems.length > 0) return { problems };
  const rest = applyExclude(crossProduct(matrix.axes), matrix.exclude, problems);
  const combinations = rest.length > LIMITS.jobs ? rest : applyInclude(rest, matrix);
  if (combinations.length === 0) problems.push({ at: "matrix", index: 0, message: "No combination is left" });
  if (combinations.length > LIMITS.jobs)
    problems.push({
      at: "matrix",
      index: 0,
      message: `${TOO_MANY}: this matrix has ${combinations.length} combinations`,
    });
  return problems.length > 0 ? { problems } : { combinations };
};
