import { oncePer } from "../once-per.ts";
import { fromBase64, lengthPrefixed, toBase64 } from "./encoding.ts";
import { type NamedKey, parseKeys } from "./keys.ts";

/** The first characters of every sealed value. The associated data of each seal contains them, too. */
const SEAL_FORMAT = "m1";

/**
 * Returns the first characters of every value sealed under this key. Key ids contain no character that LIKE treats
 * specially.
 */
export const sealPrefix = (keyId: string): string => `${SEAL_FORMAT}.${keyId}.`;

/** Formats a sealed value as text: `m1.KEYID.BASE64(iv, ciphertext, tag)`. */
export const formatSeal = (keyId: string, bytes: Uint8Array): string => sealPrefix(keyId) + toBase64(bytes);

/** Splits a sealed value. Omits `bytes` if its base64 is not canonical. Returns `undefined` for any other text. */
export const parseSeal = (text: string): { keyId: string; bytes?: Uint8Array<ArrayBuffer> } | undefined => {
  const [format, keyId = "", base64, ...rest] = text.split(".");
  if (format !== SEAL_FORMAT || base64 === undefined || rest.length > 0) return undefined;
  const bytes = fromBase64(base64);
  return bytes && toBase64(bytes) === base64 ? { keyId, bytes } : { keyId };
};

/** Reads the id of the key that sealed a value, and ignores the rest. */
export const keyIdOf = (sealed: string): string => sealed.split(".")[1] ?? "";

/**
 * Returns an SQLite expression that reads the id like `keyIdOf`. `sealed` is a column or an expression, never input.
 */
export const keyIdSql = (sealed: string): string => {
  const from = `${SEAL_FORMAT}.`.length + 1;
  return `substr(${sealed}, ${from}, instr(substr(${sealed}, ${from}), '.') - 1)`;
};

/** The key that sealed the value is not on the keyring. */
export class KeyUnknown extends Error {
  override name = "KeyUnknown";
  readonly keyId: string;
  constructor(keyId: string) {
    super("The key is not on the keyring");
    this.keyId = keyId;
  }
}

/**
 * The sealed value is damaged, or was sealed for another context. The error deliberately does not say which of the two
 * it is.
 */
export class SealBroken extends Error {
  override name = "SealBroken";
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM under named keys. A sealed value opens only in the context in which it was sealed, because the format,
 * the key's id and each part of the context are associated data.
 */
export class Keyring {
  readonly ids: readonly string[];
  readonly #keys: Map<string, NamedKey>;
  readonly #imported = new Map<string, Promise<CryptoKey>>();

  constructor(keys: NamedKey[]) {
    this.ids = keys.map((key) => key.id);
    this.#keys = new Map(keys.map((key) => [key.id, key]));
  }

  /** The id of the first key. The keyring seals with this key. */
  get current(): string {
    return this.ids[0] ?? "";
  }

  /** Returns a keyring that has the same keys, and that seals with this key. */
  withFirst(id: string): Keyring {
    const keys = [...this.#keys.values()];
    return new Keyring([...keys.filter((key) => key.id === id), ...keys.filter((key) => key.id !== id)]);
  }

  async seal(plain: string | Uint8Array<ArrayBuffer>, context: readonly string[]): Promise<string> {
    const id = this.current;
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const bytes = typeof plain === "string" ? new TextEncoder().encode(plain) : plain;
    const algorithm = { name: "AES-GCM", iv, additionalData: lengthPrefixed([SEAL_FORMAT, id, ...context]) };
    const sealed = new Uint8Array(await crypto.subtle.encrypt(algorithm, await this.#key(id), bytes));
    const whole = new Uint8Array(IV_BYTES + sealed.length);
    whole.set(iv);
    whole.set(sealed, IV_BYTES);
    return formatSeal(id, whole);
  }

  /** @throws KeyUnknown, SealBroken */
  async open(sealed: string, context: readonly string[]): Promise<Uint8Array<ArrayBuffer>> {
    const parsed = parseSeal(sealed);
    if (!parsed) throw new SealBroken();
    const { keyId, bytes } = parsed;
    const key = await this.#key(keyId);
    if (!bytes || bytes.length < IV_BYTES + TAG_BYTES) throw new SealBroken();
    const additionalData = lengthPrefixed([SEAL_FORMAT, keyId, ...context]);
    const algorithm = { name: "AES-GCM", iv: bytes.subarray(0, IV_BYTES), additionalData };
    try {
      return new Uint8Array(await crypto.subtle.decrypt(algorithm, key, bytes.subarray(IV_BYTES)));
    } catch {
      throw new SealBroken();
    }
  }

  /** @throws KeyUnknown, SealBroken */
  async openText(sealed: string, context: readonly string[]): Promise<string> {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await this.open(sealed, context));
  }

  #key(id: string): Promise<CryptoKey> {
    const key = this.#keys.get(id);
    if (!key) throw new KeyUnknown(id);
    let imported = this.#imported.get(id);
    if (!imported) {
      imported = crypto.subtle.importKey("raw", key.bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
      this.#imported.set(id, imported);
    }
    return imported;
  }
}

const once = oncePer<Keyring>();

/**
 * Loads the keyring of the Worker secret `SECRETS_KEYS`, parsed once per isolate.
 * @throws KeysUnusable
 */
export const loadKeyring = (text: string | undefined): Keyring => once(text ?? "", () => new Keyring(parseKeys(text)));
