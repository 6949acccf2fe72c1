import { oncePer } from "../once-per.ts";
import { lengthPrefixed, toHex } from "./encoding.ts";
import { type NamedKey, parseKeys } from "./keys.ts";

/** Prefixes of tokens: `mrt` API, `mrr` registration, `mra` agent, `mro` operator. */
export type TokenPrefix = "mrt" | "mrr" | "mra" | "mro";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const SECRET_LENGTH = 30;
const TAG_LENGTH = 12;
const SHAPE = /^(mrt|mrr|mra)_([a-z0-9-]{1,64})_([A-Za-z0-9]{30})([A-Za-z0-9]{12})$/;

/** Random base62. Bytes from 248 on (4 x 62) are skipped, so that each character is equally likely. */
export const randomText = (length: number): string => {
  let text = "";
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
};

/** SHA-256 of a token in hexadecimal digits: the only form in which it is stored. */
export const hashToken = async (token: string): Promise<string> =>
  toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token))));

/** Compares in constant time for texts of equal length. Their lengths are not secret. */
export const sameText = (left: string, right: string): boolean => {
  let difference = left.length ^ right.length;
  for (let at = 0; at < left.length; at++) difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
  return difference === 0;
};

/**
 * Makes and recognizes tokens `PREFIX_ORGANIZATION_SECRETTAG`. The tag is an HMAC-SHA-256 under a key of `TOKEN_KEYS`,
 * so a forged token is refused without a call to the database or an object.
 */
export class TokenMint {
  readonly #keys: NamedKey[];
  readonly #imported = new Map<string, Promise<CryptoKey>>();

  constructor(keys: NamedKey[]) {
    this.#keys = keys;
  }

  async mint(prefix: TokenPrefix, orgId: string): Promise<string> {
    const secret = randomText(SECRET_LENGTH);
    return `${prefix}_${orgId}_${secret}${await this.#tag(this.#first(), prefix, orgId, secret)}`;
  }

  /** Returns `undefined` for a forged token. Whether the token is still valid, only its owner knows. */
  async recognize(token: string): Promise<{ prefix: TokenPrefix; orgId: string } | undefined> {
    const [, prefix, orgId = "", secret = "", tag = ""] = SHAPE.exec(token) ?? [];
    if (!prefix) return undefined;
    for (const key of this.#keys) {
      if (sameText(await this.#tag(key, prefix, orgId, secret), tag)) {
        return { prefix: prefix as TokenPrefix, orgId };
      }
    }
    return undefined;
  }

  /** An HMAC by which equal texts are found without storing them. */
  async fingerprint(text: string): Promise<string> {
    return toHex(await this.#mac(this.#first(), "fingerprint", text));
  }

  #first(): NamedKey {
    const [first] = this.#keys;
    if (!first) throw new RangeError("The mint has no key");
    return first;
  }

  async #tag(key: NamedKey, ...parts: string[]): Promise<string> {
    const mac = await this.#mac(key, ...parts);
    return Array.from(mac.subarray(0, TAG_LENGTH), (byte) => ALPHABET[byte % 62]).join("");
  }

  async #mac(key: NamedKey, ...parts: string[]): Promise<Uint8Array> {
    let imported = this.#imported.get(key.id);
    if (!imported) {
      imported = crypto.subtle.importKey("raw", key.bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
      this.#imported.set(key.id, imported);
    }
    return new Uint8Array(await crypto.subtle.sign("HMAC", await imported, lengthPrefixed(parts)));
  }
}

const once = oncePer<TokenMint>();

/**
 * The mint of the Worker secret `TOKEN_KEYS`, parsed once per isolate.
 * @throws KeysUnusable
 */
export const loadMint = (text: string | undefined): TokenMint => once(text ?? "", () => new TokenMint(parseKeys(text)));
