/** The base64 of a text with so many bytes before it: the part that is the same whatever those are, and what follows. */
const base64After = (text: string, before: number): string => {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
  const whole = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString("base64");
  return whole.slice(before === 0 ? 0 : 4);
};

/** The forms in which a text may show up where it should not. */
export const encodingsOf = (text: string): Record<string, string> => ({
  raw: text,
  "base64 at 0": base64After(text, 0),
  "base64 at 1": base64After(text, 1),
  "base64 at 2": base64After(text, 2),
  base64url: base64After(text, 0).replaceAll("+", "-").replaceAll("/", "_"),
  hex: Buffer.from(text).toString("hex"),
  percent: encodeURIComponent(text),
  json: JSON.stringify(text).slice(1, -1),
});

/** Which of the texts, in which encoding, the bytes have. */
export const found = (bytes: Buffer | string, texts: Record<string, string>): string[] =>
  Object.entries(texts).flatMap(([name, text]) =>
    Object.entries(encodingsOf(text)).flatMap(([encoding, form]) =>
      bytes.includes(form) ? [`${name} ${encoding}`] : [],
    ),
  );
