/** The state of a pipeline's branch that a badge shows. */
export type BadgeState = "succeeded" | "failed" | "canceled" | "running" | "no build";

const COLOURS: Record<BadgeState, string> = {
  succeeded: "#2a7b3c",
  failed: "#b3261e",
  canceled: "#5f6368",
  running: "#1a5fb4",
  "no build": "#5f6368",
};

const NAME_CHARACTERS = 40;
const PADDING = 6;
const NARROW = new Set("fijlrtI.,:;'!|()[]/ -");
const WIDE = new Set("mwMW@%&");

/** Estimates a text's width in pixels at 11 pixels of Verdana. `textLength` then makes it fit. */
const textWidth = (text: string): number =>
  [...text].reduce((sum, letter) => {
    if (letter > "\u02ff") return sum + 11;
    return sum + (NARROW.has(letter) ? 5 : WIDE.has(letter) ? 11 : 7);
  }, 0);

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Escapes text for XML 1.0, which allows no control characters and no incomplete characters. */
const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\x00-\x1f\x7f-\x9f\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"']/g, (letter) => ENTITIES[letter]!);

const shorten = (name: string): string => {
  const letters = [...name];
  return letters.length > NAME_CHARACTERS ? `${letters.slice(0, NAME_CHARACTERS - 1).join("")}…` : name;
};

const box = (text: string, from: number, width: number, colour: string): string =>
  `<rect x="${from}" width="${width}" height="20" fill="${colour}"/>` +
  `<text x="${from + PADDING}" y="14" textLength="${width - 2 * PADDING}" lengthAdjust="spacingAndGlyphs">${escapeXml(text)}</text>`;

/** Draws two boxes. One contains the name, which may be any text, and the other the state. */
export const badgeSvg = (name: string, state: BadgeState): string => {
  const label = shorten(name);
  const [left, right] = [textWidth(label) + 2 * PADDING, textWidth(state) + 2 * PADDING];
  const title = escapeXml(`${label}: ${state}`);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${title}">` +
    `<title>${title}</title><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">` +
    `${box(label, 0, left, "#3c4043")}${box(state, left, right, COLOURS[state])}</g></svg>`
  );
};
