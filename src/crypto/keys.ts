import { fromBase64 } from "./encoding.ts";

/**
 * The Worker secret with the keys is missing or malformed. The message says what is wrong without quoting the secret.
 */
export class KeysUnusable extends Error {
  override name = "KeysUnusable";
}

export interface NamedKey {
  id: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Parses `id:base64,id:base64,...`: ids of a-z, 0-9 and -, keys of 32 bytes. The first key seals and signs.
 * @throws KeysUnusable
 */
export const parseKeys = (text: string | undefined): NamedKey[] => {
  if (!text?.trim()) throw new KeysUnusable("it is not set");
  const keys = text.split(",").map((entry, index) => {
    const [, id, base64] = /^\s*([a-z0-9-]{1,32}):([A-Za-z0-9+/]+={0,2})\s*$/.exec(entry) ?? [];
    if (!id || !base64) throw new KeysUnusable(`entry ${index + 1} does not have the form id:base64`);
    const bytes = fromBase64(base64);
    if (bytes?.length !== 32) throw new KeysUnusable(`key ${id} is not 32 bytes of base64`);
    return { id, bytes };
  });
  if (new Set(keys.map((key) => key.id)).size !== keys.length) throw new KeysUnusable("two keys have the same id");
  return keys;
};
