/** The file cannot be translated at all. The message says why, and what to do. */
export class Untranslatable extends Error {}
