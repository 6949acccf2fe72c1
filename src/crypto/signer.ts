import { lengthPrefixed } from "./encoding.ts";
import type { NamedKey } from "./keys.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const TAG_LENGTH = 12;

/** Compares texts of equal length in constant time. Their lengths are not secret. */
export const sameText = (one: string, other: string): boolean => {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at);
  return difference === 0;
};

/** Encodes each byte as one base62 character: about 5.9 of its 8 bits. */
export const base62 = (bytes: Uint8Array): string => Array.from(bytes, (byte) => ALPHABET[byte % 62]).join("");

/** Computes HMAC-SHA-256 under named keys. Moving a character from one part to the next changes the tag. */
export class Signer {
  readonly #keys: readonly NamedKey[];
  readonly #imported = new Map<string, Promise<CryptoKey>>();

  constructor(keys: readonly NamedKey[]) {
    this.#keys = keys;
  }

  /** The key with which the signer signs. @throws RangeError without a key */
  get first(): NamedKey {
    const [first] = this.#keys;
    if (!first) throw new RangeError("There is no key to sign with");
    return first;
  }

  /** Finds the key that gives this tag for these parts. */
  async keyOf(tag: string, ...parts: string[]): Promise<NamedKey | undefined> {
    for (const key of this.#keys) if (sameText(await this.tag(key, ...parts), tag)) return key;
    return undefined;
  }

  /** Reports whether `written` returns this text for all 32 bytes under one of the keys. */
  async signed(written: (mac: Uint8Array) => string, text: string, ...parts: string[]): Promise<boolean> {
    for (const key of this.#keys) if (sameText(written(await this.mac(key, ...parts)), text)) return true;
    return false;
  }

  /** Returns a tag of 12 base62 characters. */
  async tag(key: NamedKey, ...parts: string[]): Promise<string> {
    return base62((await this.mac(key, ...parts)).subarray(0, TAG_LENGTH));
  }

  /** Returns the MAC's 32 bytes. */
  async mac(key: NamedKey, ...parts: string[]): Promise<Uint8Array> {
    let imported = this.#imported.get(key.id);
    if (!imported) {
      imported = crypto.subtle.importKey("raw", key.bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
      this.#imported.set(key.id, imported);
    }
    return new Uint8Array(await crypto.subtle.sign("HMAC", await imported, lengthPrefixed(parts)));
  }
}
