import { groupedForms } from "../../src/mask/forms.ts";

/** Returns one character per byte. */
export const latin = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");

/** White space that only wraps an encoded text: it follows 20 characters of the text. */
const WRAPS = /(?<=[A-Za-z0-9+/_-]{20})[\r\n][\r\n \t]{0,63}/g;

/** Finds each form of each secret in the text the slow way: it tries every needle at every position. */
const matches = (secrets: Uint8Array[], text: string): [start: number, end: number][] => {
  const { plain, wrapped } = groupedForms(secrets);
  const found: [number, number][] = [];
  for (const needle of plain.map(latin)) {
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1))
      found.push([at, at + needle.length]);
  }
  const gone = new Set([...text.matchAll(WRAPS)].flatMap((gap) => [...gap[0]].map((_, n) => gap.index + n)));
  const kept = [...text].map((_, at) => at).filter((at) => !gone.has(at));
  const view = kept.map((at) => text[at]!.replace("-", "+").replace("_", "/")).join("");
  for (const needle of wrapped.map(latin)) {
    for (let at = view.indexOf(needle); at >= 0; at = view.indexOf(needle, at + 1)) {
      found.push([kept[at]!, kept[at + needle.length - 1]! + 1]);
    }
  }
  return found;
};

/** Returns the required output of a masker: the union of all matches, with one mask for each run. */
export const expected = (secrets: Uint8Array[], text: string): string => {
  const covered = new Array<boolean>(text.length).fill(false);
  for (const [start, end] of matches(secrets, text)) covered.fill(true, start, end);
  return [...text].map((char, at) => (!covered[at] ? char : at > 0 && covered[at - 1] ? "" : "***")).join("");
};
