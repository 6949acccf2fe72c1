const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/g;

/** A text of a log without escape sequences and control characters; line breaks and tabs stay. */
export const plainText = (text: string): string => text.replace(ESCAPES, "").replace(CONTROLS, "");
