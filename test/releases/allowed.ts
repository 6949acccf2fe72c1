/** What today's description may break of the last release's, and why: nothing else. */
export const ALLOWED: { what: RegExp; why: string }[] = [];

/** Patterns that were spelled another way and mean the same. */
export const RESPELLED: Record<string, string> = {};
