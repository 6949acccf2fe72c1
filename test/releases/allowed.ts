/** What today's description may break of the last release's, and why: nothing else. */
export const ALLOWED: { what: RegExp; why: string }[] = [
  {
    what: /^POST \/connection\/\{id\}\/rotate 200\.auth: enum$/,
    why: "A connection may act as a GitHub App: no connection of before does until an admin gives it one.",
  },
];

/** Patterns that were spelled another way and mean the same. */
export const RESPELLED: Record<string, string> = {};
