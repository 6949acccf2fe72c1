import { lengthPrefixed } from "./encoding.ts";
import type { NamedKey } from "./keys.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const TAG_LENGTH = 12;

/** Compares in constant time for texts of equal length. Their lengths are not secret. */
export const sameText = (one: string, other: string): boolean => {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
};

/** Base62 of bytes, a character each: about 5.9 bits of every 8. */
export const base62 = (bytes: Uint8Array): string => Array.from(bytes, (byte) => ALPHABET[byte % 62]).join("");

/** HMAC-SHA-256 under named keys, over parts that cannot be shifted into each other. */
export class Signer {
  readonly #keys: readonly NamedKey[];
  readonly #imported = new Map<string, Promise<CryptoKey>>();

  constructor(keys: readonly NamedKey[]) {
    this.#keys = keys;
  }

  /** The key that signs. @throws RangeError without a key */
  get first(): NamedKey {
    const [first] = this.#keys;
    if (!first) throw new RangeError("There is no key to sign with");
    return first;
  }

  /** The key under which the tag is of these parts. */
  async keyOf(tag: string, ...parts: string[]): Promise<NamedKey | undefined> {
    for (const key of this.#keys) if (sameText(await this.tag(key, ...parts), tag)) return key;
    return undefined;
  }

  /** Whether one of the keys gives this text for the whole 32 bytes. */
  async signed(written: (mac: Uint8Array) => string, text: string, ...parts: string[]): Promise<boolean> {
    for (const key of this.#keys) if (sameText(written(await this.mac(key, ...parts)), text)) return true;
    return false;
  }

  /** 12 characters of base62. */
  async tag(key: NamedKey, ...parts: string[]): Promise<string> {
    return base62((await this.mac(key, ...parts)).subarray(0, TAG_LENGTH));
  }

  /** 32 bytes. */
  async mac(key: NamedKey, ...parts: string[]): Promise<Uint8Array> {
    let imported = this.#imported.get(key.id);
    if (!imported) {
      imported = crypto.subtle.importKey("raw", key.bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
      this.#imported.set(key.id, imported);
    }
    return new Uint8Array(await crypto.subtle.sign("HMAC", await imported, lengthPrefixed(parts)));
  }
}
