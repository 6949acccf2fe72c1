const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/g;

/** Removes escape sequences and control characters from a log's text. Line breaks and tabs stay. */
export const plainText = (text: string): string => text.replace(ESCAPES, "").replace(CONTROLS, "");

/**
 * Returns the length up to the last complete UTF-8 character. An incomplete character waits for its remaining bytes.
 */
export const wholeCharacters = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
};

/**
 * Removes these characters at the end of a text. A regex such as /x+$/ restarts at each x. In engines that backtrack, a
 * long run of x would take time proportional to the square of its length.
 */
export const withoutEnd = (text: string, characters: string): string => {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
};
