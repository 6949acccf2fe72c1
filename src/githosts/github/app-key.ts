import * as z from "zod/mini";
import { fromBase64, toBase64 } from "../../crypto/encoding.ts";

/** The text is not the private RSA key of a GitHub App. The message quotes nothing from the text. */
export class AppKeyUnusable extends Error {
  override name = "AppKeyUnusable";
}

const ALGORITHM = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
const SMALLEST_BITS = 2048;
/**
 * Seconds by which a token is backdated, because GitHub's clock may be behind ours. GitHub accepts a lifetime of at
 * most ten minutes.
 */
const BACKDATED_S = 60;
const LIFETIME_S = 9 * 60;

const PEM = /^\s*-----BEGIN (RSA PRIVATE KEY|PRIVATE KEY)-----([A-Za-z0-9+/=\s]+)-----END \1-----\s*$/;
/** The bytes of `version 0, rsaEncryption`, which PKCS#8 puts before a PKCS#1 key (RFC 5208, RFC 8017 appendix A). */
const RSA_HEADER = [2, 1, 0, 48, 13, 6, 9, 42, 134, 72, 134, 247, 13, 1, 1, 1, 5, 0];

/** Encodes a DER value whose content has 256 to 65535 bytes. The length of such a value takes two bytes. */
const der = (tag: number, content: Uint8Array): number[] => [
  tag,
  0x82,
  content.length >> 8,
  content.length & 0xff,
  ...content,
];

/** Wraps a key. GitHub issues PKCS#1, and WebCrypto accepts only PKCS#8. */
const wrapped = (pkcs1: Uint8Array): Uint8Array<ArrayBuffer> =>
  new Uint8Array(der(48, new Uint8Array([...RSA_HEADER, ...der(4, pkcs1)])));

/** Returns the bytes of the key in PKCS#8. @throws AppKeyUnusable */
const toPkcs8 = (pem: string): Uint8Array<ArrayBuffer> => {
  const [, kind, base64 = ""] = PEM.exec(pem) ?? [];
  const bytes = kind ? fromBase64(base64.replace(/\s+/g, "")) : undefined;
  if (!bytes || bytes.length < 256 || bytes.length > 8_192) throw new AppKeyUnusable("It is not a PEM private key");
  return kind === "PRIVATE KEY" ? bytes : wrapped(bytes);
};

const importKey = async (pem: string): Promise<CryptoKey> => {
  const bytes = toPkcs8(pem);
  try {
    const key = await crypto.subtle.importKey("pkcs8", bytes, ALGORITHM, false, ["sign"]);
    if ("modulusLength" in key.algorithm && key.algorithm.modulusLength >= SMALLEST_BITS) return key;
  } catch {
    throw new AppKeyUnusable("It is not an RSA key");
  }
  throw new AppKeyUnusable("It has fewer than 2048 bits");
};

const inUrl = (base64: string): string => base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const part = (value: object): string => inUrl(toBase64(new TextEncoder().encode(JSON.stringify(value))));

/** Signs as a GitHub App: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app */
export class AppKey {
  readonly #key: CryptoKey;

  private constructor(key: CryptoKey) {
    this.#key = key;
  }

  /** @param pem PKCS#1 or PKCS#8, 2048 bits or more. @throws AppKeyUnusable */
  static async of(pem: string): Promise<AppKey> {
    return new AppKey(await importKey(pem));
  }

  /**
   * Signs a JWT (RS256) that is valid for nine minutes. @param issuer The App's client id, or its number. @param now In
   * milliseconds.
   */
  async jwt(issuer: string, now: number): Promise<string> {
    const at = Math.floor(now / 1000);
    const claims = { iat: at - BACKDATED_S, exp: at + LIFETIME_S, iss: issuer };
    const text = `${part({ alg: "RS256", typ: "JWT" })}.${part(claims)}`;
    const signature = await crypto.subtle.sign(ALGORITHM, this.#key, new TextEncoder().encode(text));
    return `${text}.${inUrl(toBase64(new Uint8Array(signature)))}`;
  }
}

/** The sealed secrets of a GitHub App. */
const AppSecret = z.object({
  /** The App's private key, as PEM. */
  key: z.string(),
  /** The previous token, with which the service removes the hooks that it created with that token. */
  formerToken: z.optional(z.string()),
});
type AppSecret = z.infer<typeof AppSecret>;

export const writtenAppSecret = (secret: AppSecret): string => JSON.stringify(secret);

/** Reads the output of `writtenAppSecret`. @throws if the text is something else */
export const readAppSecret = (text: string): AppSecret => AppSecret.parse(JSON.parse(text));
