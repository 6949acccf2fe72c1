/** What today's description may break of the last release's, and why: nothing else. */
export const ALLOWED: { what: RegExp; why: string }[] = [
  {
    what: /^POST \/build\/\{id\}\/retry 413: is gone$/,
    why: "A retry has no body, and the inputs that it repeats were within the limit when they were accepted.",
  },
];

/** Patterns that were spelled another way and mean the same. */
export const RESPELLED: Record<string, string> = {};
