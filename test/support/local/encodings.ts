/** Returns the base64 of a text after `before` other bytes: only the characters that do not depend on these bytes. */
const base64After = (text: string, before: number): string => {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString("base64");
  return whole.slice(before === 0 ? 0 : 4);
};

/** Returns the encodings in which a leaked text may appear. */
export const encode = (text: string): Record<string, string> => ({
  raw: text,
  "base64 at 0": base64After(text, 0),
  "base64 at 1": base64After(text, 1),
  "base64 at 2": base64After(text, 2),
  base64url: base64After(text, 0).replaceAll("+", "-").replaceAll("/", "_"),
  hex: Buffer.from(text).toString("hex"),
  percent: encodeURIComponent(text),
  json: JSON.stringify(text).slice(1, -1),
});

/** Finds the texts that the bytes contain, with the encoding. */
export const findEncoded = (bytes: Buffer | string, texts: Record<string, string>): string[] =>
  Object.entries(texts).flatMap(([name, text]) =>
    Object.entries(encode(text)).flatMap(([encoding, form]) => (bytes.includes(form) ? [`${name} ${encoding}`] : [])),
  );
