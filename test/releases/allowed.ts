/** What today's description may break of the last release's, and why: nothing else. */
export const ALLOWED: { what: RegExp; why: string }[] = [
  {
    what: /^GET \S+ query limit: default$/,
    why: "Lists come in pages of 100 where no limit is given, so that no answer grows without bound; builds and the audit came in pages of 50 before, without saying so here.",
  },
  {
    what: /\.(?:platform|status): maximum$/,
    why: "Codes of agents may be added: a client that was made for four of them takes another one for other.",
  },
  { what: /query (?:includeInactive|includeVariables|days|wait): default$/, why: "It was so, and was not said." },
];

/** Patterns that were spelled another way and mean the same. */
export const RESPELLED: Record<string, string> = {
  "^[^\\p{Cc}]+$": "^[^\\x00-\\x1F\\x7F-\\x9F]+$",
  "^[^\\p{Cc}]*$": "^[^\\x00-\\x1F\\x7F-\\x9F]*$",
  "^[^\\p{Cc}\\\\]+$": "^[^\\x00-\\x1F\\x7F-\\x9F\\\\]+$",
  "^[^\\p{Cc}:@/]+$": "^[^\\x00-\\x1F\\x7F-\\x9F:@/]+$",
};
