import type { ChosenPaths } from "../../domain/artifact/chosen-paths.ts";

/**
 * Reports whether a cache keeps a link. A link may have any target, because nothing is written through it. But if a
 * cache path names the link itself, the cache must include the target too. Otherwise the link alone would block that
 * path.
 */
export const isCachedLink = ({ isNamed, nameOf }: ChosenPaths, path: string, text: string): boolean => {
  if (text === "" || text.includes("\0")) return false;
  const parts = path.split("/");
  return !isNamed(path) || (staysWithin(parts, text) && nameOf(resolveLink(parts, text)) !== null);
};

/** Returns the path of a link's target, from the link's text. The target must stay inside the folder. */
const resolveLink = (parts: readonly string[], text: string): string => {
  const steps = text.split("/").filter((step) => step !== "" && step !== ".");
  const ups = steps.filter((step) => step === "..").length;
  return [...parts.slice(0, parts.length - 1 - ups), ...steps.slice(ups)].join("/");
};

/**
 * Reports whether a link in a folder can only lead into that folder. `..` is allowed only at the beginning of the
 * link's text. After another part, which may also be a link, `..` could mean a higher folder than the text suggests.
 * `parts` are the link's own path.
 */
export const staysWithin = (parts: readonly string[], text: string): boolean => {
  if (text === "" || text.startsWith("/") || text.includes("\0")) return false;
  const steps = text.split("/").filter((step) => step !== "" && step !== ".");
  const up = steps.findIndex((step) => step !== "..");
  const ups = up < 0 ? steps.length : up;
  return ups < parts.length && !steps.slice(ups).includes("..");
};
