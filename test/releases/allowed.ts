/** What today's description may break of the last release's, and why: nothing else. */
export const ALLOWED: { what: RegExp; why: string }[] = [
  {
    what: /^POST (\/repository\/\{id\})?\/build 409: is gone$/,
    why: "No rule of a trigger ever raised a conflict. A repeat with another body is 422, as described.",
  },
  {
    what: /^POST \/build\/\{id\}\/retry 413: is gone$/,
    why: "A retry has no body, and the inputs that it repeats were within the limit when they were accepted.",
  },
];

/** Patterns that were spelled another way and mean the same. */
export const RESPELLED: Record<string, string> = {};
