import { oncePer } from "../once-per.ts";
import { fromBase64, toBase64 } from "./encoding.ts";
import { type NamedKey, parseKeys } from "./keys.ts";
import { Signer } from "./signer.ts";

/**
 * The permission in an address or a header: to upload, download, share or view an artifact, or to read or save cache
 * entries.
 */
type GrantKind = "upload" | "download" | "share" | "view" | "cache-read" | "cache-write";

const SHAPE = /^mrx_([A-Za-z0-9_-]{1,2000})\.([A-Za-z0-9_-]{43})$/;

const toUrlText = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const fromUrlText = (text: string): string | undefined => {
  const bytes = fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
  return bytes && new TextDecoder().decode(bytes);
};

/**
 * Issues and reads grants `mrx_FACTS.TAG`. A grant contains the facts as JSON in base64url, and a tag. The tag is the
 * HMAC-SHA-256 of the facts and the kind of grant, under a key of `TOKEN_KEYS`. The service stores no grant. A reader
 * can verify a grant without a query.
 */
export class Grants<F extends Record<GrantKind, object>> {
  readonly #signer: Signer;

  constructor(keys: readonly NamedKey[]) {
    this.#signer = new Signer(keys);
  }

  async grant<K extends GrantKind>(granted: K, facts: F[K]): Promise<string> {
    const text = toUrlText(new TextEncoder().encode(JSON.stringify(facts)));
    return `mrx_${text}.${toUrlText(await this.#signer.mac(this.#signer.first, "artifact", granted, text))}`;
  }

  /**
   * Reads the facts of a genuine grant. Returns `undefined` for a forged grant or one of another kind. Does not check
   * `until`.
   */
  async read<K extends GrantKind>(granted: K, grant: string): Promise<F[K] | undefined> {
    const [, text, tag] = SHAPE.exec(grant) ?? [];
    if (!text || !tag) return undefined;
    if (!(await this.#signer.signed(toUrlText, tag, "artifact", granted, text))) return undefined;
    const facts = fromUrlText(text);
    return facts === undefined ? undefined : (JSON.parse(facts) as F[K]);
  }
}

const once = oncePer<Grants<never>>();

/**
 * Loads the grants of the Worker secret `TOKEN_KEYS`, parsed once per isolate.
 * @throws KeysUnusable
 */
export const loadGrants = <F extends Record<GrantKind, object>>(text: string | undefined): Grants<F> =>
  once(text ?? "", () => new Grants<never>(parseKeys(text))) as unknown as Grants<F>;
