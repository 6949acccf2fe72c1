/** Characters that no text needs: controls besides tab and line ends, and what changes the direction of text around it. */
const UNWANTED = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/**
 * A text of a report as it is kept: at most so many characters, each of them whole. What is unwanted is replaced, not
 * left out, so that nothing that was masked apart comes together.
 */
export const storedText = (text: string, characters: number): string =>
  text.replace(UNWANTED, "\ufffd").slice(0, characters).toWellFormed();
