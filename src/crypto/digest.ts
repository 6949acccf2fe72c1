import { toHex } from "./encoding.ts";

/** SHA-256 of a text's UTF-8, in hexadecimal digits. */
export const sha256Hex = async (text: string): Promise<string> =>
  toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
