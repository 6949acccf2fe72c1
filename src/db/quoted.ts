/** Texts as a list of SQL literals. Only for texts of this code: nothing is escaped. */
export const quoted = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(", ");
