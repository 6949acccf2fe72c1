/** Intended breaking changes since the last release, each with its reason. */
export const ALLOWED: { what: RegExp; why: string }[] = [];

/** Equivalent patterns with another spelling. */
export const RESPELLED: Record<string, string> = {};
