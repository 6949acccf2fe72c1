import { fromBase64, toBase64 } from "./encoding.ts";

/** How a sealed value begins; also a part of what each seal is bound to. */
export const SEAL_FORMAT = "m1";

/** The beginning of every value sealed under this key. Key ids have no character that LIKE treats specially. */
export const sealPrefix = (keyId: string): string => `${SEAL_FORMAT}.${keyId}.`;

/** A sealed value as text: `m1.KEYID.BASE64(iv, ciphertext, tag)`. */
export const formatSeal = (keyId: string, bytes: Uint8Array): string => sealPrefix(keyId) + toBase64(bytes);

/** The parts of a sealed value, without `bytes` where its base64 is not canonical; `undefined` for any other text. */
export const parseSeal = (text: string): { keyId: string; bytes?: Uint8Array<ArrayBuffer> } | undefined => {
  const [format, keyId = "", base64, ...rest] = text.split(".");
  if (format !== SEAL_FORMAT || base64 === undefined || rest.length > 0) return undefined;
  const bytes = fromBase64(base64);
  return bytes && toBase64(bytes) === base64 ? { keyId, bytes } : { keyId };
};

/** The id of the key that a value was sealed with, without looking at the rest. */
export const keyIdOf = (sealed: string): string => sealed.split(".")[1] ?? "";

/** The same as an expression of SQLite: `sealed` is a column or an expression, never input. */
export const keyIdSql = (sealed: string): string => {
  const from = `${SEAL_FORMAT}.`.length + 1;
  return `substr(${sealed}, ${from}, instr(substr(${sealed}, ${from}), '.') - 1)`;
};
