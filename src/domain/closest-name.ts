/**
 * Returns the optimal string alignment distance: inserts, deletes, replacements and swaps of neighbours from `a` to
 * `b`.
 */
const editDistance = (a: string, b: string): number => {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1;
      let least = Math.min(above[column]! + 1, current[column - 1]! + 1, above[column - 1]! + same);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        least = Math.min(least, before[column - 2]! + 1);
      current.push(least);
    }
    before = above;
    above = current;
  }
  return above[b.length]!;
};

const normalize = (text: string): string => text.toLowerCase().replaceAll(/[-_ ]/g, "");

/**
 * Returns the known name with the fewest edits from `text`; undefined if none is close. Ignores case, `-`, `_` and
 * spaces.
 */
export const closestName = (text: string, names: Iterable<string>): string | undefined => {
  if (text.length > 64) return undefined;
  let best: string | undefined;
  let least = Math.floor(normalize(text).length / 3) + 1;
  for (const name of names) {
    if (Math.abs(name.length - text.length) > 8) continue;
    const isShortened = normalize(text).length >= 4 && normalize(name).startsWith(normalize(text));
    const edits = isShortened ? 1 : editDistance(normalize(text), normalize(name));
    if (edits < least) [best, least] = [name, edits];
  }
  return best;
};
