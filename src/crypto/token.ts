import { oncePer } from "../once-per.ts";
import { sha256Hex, toHex } from "./encoding.ts";
import { type NamedKey, parseKeys } from "./keys.ts";
import { base62, Signer } from "./signer.ts";

/** Prefixes of tokens: `mrt` API, `mrr` registration, `mra` agent, `mro` operator. */
export type TokenPrefix = "mrt" | "mrr" | "mra" | "mro";

const SECRET_LENGTH = 30;
const SHAPE = /^(mrt|mrr|mra)_([a-z0-9-]{1,64})_([A-Za-z0-9]{30})([A-Za-z0-9]{12})$/;

/** Returns random base62. It skips bytes from 248 on (4 x 62), so that each character is equally likely. */
export const randomText = (length: number): string => {
  let text = "";
  while (text.length < length) {
    const bytes = crypto.getRandomValues(new Uint8Array(length)).filter((byte) => byte < 248);
    text += base62(bytes.subarray(0, length - text.length));
  }
  return text;
};

/** Hashes a token with SHA-256, as hexadecimal digits. The service stores tokens only in this form. */
export const hashToken = (token: string): Promise<string> => sha256Hex(token);

/**
 * Issues and recognizes tokens `PREFIX_ORGANIZATION_SECRETTAG`. The tag is an HMAC-SHA-256 under a key of `TOKEN_KEYS`,
 * so the service rejects a forged token without a call to the database or an object.
 */
export class TokenMint {
  readonly #signer: Signer;

  constructor(keys: NamedKey[]) {
    this.#signer = new Signer(keys);
  }

  async mint(prefix: TokenPrefix, orgId: string): Promise<string> {
    const secret = randomText(SECRET_LENGTH);
    return `${prefix}_${orgId}_${secret}${await this.#signer.tag(this.#signer.first, prefix, orgId, secret)}`;
  }

  /**
   * Reads a token. Returns `undefined` for a forged token. Only the token's owner knows whether the token is still
   * valid.
   */
  async recognize(token: string): Promise<{ prefix: TokenPrefix; orgId: string } | undefined> {
    const [, prefix, orgId = "", secret = "", tag = ""] = SHAPE.exec(token) ?? [];
    if (!prefix) return undefined;
    const key = await this.#signer.keyOf(tag, prefix, orgId, secret);
    return key && { prefix: prefix as TokenPrefix, orgId };
  }

  /** Returns an HMAC that identifies equal texts, so that the service need not store them. */
  async fingerprint(text: string): Promise<string> {
    return toHex(await this.#signer.mac(this.#signer.first, "fingerprint", text));
  }
}

const once = oncePer<TokenMint>();

/**
 * Loads the mint of the Worker secret `TOKEN_KEYS`, parsed once per isolate.
 * @throws KeysUnusable
 */
export const loadMint = (text: string | undefined): TokenMint => once(text ?? "", () => new TokenMint(parseKeys(text)));
