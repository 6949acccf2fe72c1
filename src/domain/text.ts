const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/g;

/** A text of a log without escape sequences and control characters; line breaks and tabs stay. */
export const plainText = (text: string): string => text.replace(ESCAPES, "").replace(CONTROLS, "");

/** The length up to the last complete UTF-8 character: an incomplete one waits for its other bytes. */
export const wholeCharacters = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
};

/**
 * The text without these characters at its end. A regex such as /x+$/ begins again at each x, which takes as long as the
 * square of a long text of them in engines that go back.
 */
export const withoutEnd = (text: string, characters: string): string => {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
};
