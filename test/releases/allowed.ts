/** What today's description may break of the last release's, and why: nothing else. */
export const ALLOWED: { what: RegExp; why: string }[] = [
  {
    what: /^GET \S+ header Millrace-Bookmark: pattern$/,
    why: "A bookmark comes from an earlier answer: what no answer ever had does not reach D1.",
  },
];

/** Patterns that were spelled another way and mean the same. */
export const RESPELLED: Record<string, string> = {};
