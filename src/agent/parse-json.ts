/** Null for a text that is not JSON: the message of the parser's error would quote the text. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
