import type { ChosenPaths } from "../../domain/artifact/chosen-paths.ts";

/**
 * Whether a cache has a link. What it says is kept wherever it leads, since nothing is written through it. Where a path
 * of the cache names the link itself, what it leads to must be cached too: the link alone would stand in its way.
 */
export const isCachedLink = ({ isNamed, nameOf }: ChosenPaths, path: string, text: string): boolean => {
  if (text === "" || text.includes("\0")) return false;
  const parts = path.split("/");
  return !isNamed(path) || (staysWithin(parts, text) && nameOf(resolveLink(parts, text)) !== null);
};

/** Where a link of these parts leads, as its text says; it must stay within. */
const resolveLink = (parts: readonly string[], text: string): string => {
  const steps = text.split("/").filter((step) => step !== "" && step !== ".");
  const ups = steps.filter((step) => step === "..").length;
  return [...parts.slice(0, parts.length - 1 - ups), ...steps.slice(ups)].join("/");
};

/**
 * Whether a link in a folder can lead nowhere but into that folder. `..` may stand only at the beginning of its text:
 * after another part, which may be a link too, it could mean a folder further up than the text says. `parts` are
 * those of the link's own path.
 */
export const staysWithin = (parts: readonly string[], text: string): boolean => {
  if (text === "" || text.startsWith("/") || text.includes("\0")) return false;
  const steps = text.split("/").filter((step) => step !== "" && step !== ".");
  const up = steps.findIndex((step) => step !== "..");
  const ups = up < 0 ? steps.length : up;
  return ups < parts.length && !steps.slice(ups).includes("..");
};
