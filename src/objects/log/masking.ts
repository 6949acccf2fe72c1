import { type Keyring, keyIdOf, loadKeyring } from "../../crypto/keyring.ts";
import { compile, Masker, maskText } from "../../mask/mask.ts";
import type { Needles } from "../../mask/scanner.ts";
import type { BuildLogStore } from "./store.ts";
import type { LogSegment } from "./values.ts";

/**
 * An active masker, with the number of bytes that it received from the lease. The masker may hold back some of these
 * bytes.
 */
export interface Masking {
  fence: number;
  needles: Needles;
  masker: Masker;
  received: number;
}

/** Masks bytes that the lease sent. `final` also releases the bytes that the masker holds back. */
export const maskBytes = (masking: Masking, bytes: Uint8Array, final: boolean): Uint8Array => {
  const masked = masking.masker.push(bytes);
  masking.received += bytes.length;
  const rest = final ? masking.masker.end() : new Uint8Array();
  if (rest.length === 0) return masked;
  const whole = new Uint8Array(masked.length + rest.length);
  whole.set(masked);
  whole.set(rest, masked.length);
  return whole;
};

/** The values to mask in one log. The values are sealed on disk, and are in memory only while a lease writes. */
export class LogMasking {
  readonly #logId: string;
  readonly #env: () => Env;
  #active: Masking | null = null;

  constructor(logId: string, env: () => Env) {
    this.#logId = logId;
    this.#env = env;
  }

  get keyring(): Keyring {
    return loadKeyring(this.#env().SECRETS_KEYS);
  }

  /** Returns the segment's masker, which continues where its last one stopped. */
  async resume(segment: LogSegment): Promise<Masking> {
    const { fence, position } = segment;
    if (this.#active?.fence === fence) return this.#active;
    const needles = compile(await this.openSecrets(segment));
    this.#active = { fence, needles, masker: new Masker(needles, position), received: position.offset };
    return this.#active;
  }

  /** Drops the masker, because it may be ahead of the disk, or its values may be out of date. */
  forget(): void {
    this.#active = null;
  }

  async openSecrets({ sealed, fence }: LogSegment): Promise<string[]> {
    return sealed === null ? [] : JSON.parse(await this.keyring.openText(sealed, this.#context(fence)));
  }

  /** Seals `secrets`, which are values as JSON. */
  seal(fence: number, secrets: string): Promise<string> {
    return this.keyring.seal(secrets, this.#context(fence));
  }

  /** Masks texts, such as names of steps, with the same values as this segment's log. */
  async maskTexts(segment: LogSegment, texts: string[]): Promise<string[]> {
    if (texts.length === 0) return [];
    const { needles } = await this.resume(segment);
    return texts.map((text) => maskText(needles, text));
  }

  /**
   * Reseals the values of all segments under the current key.
   * @returns the key's id; null if the log stores no values
   */
  async rewrap(store: BuildLogStore): Promise<{ keyId: string | null; isChanged: boolean }> {
    let isChanged = false;
    let keyId: string | null = null;
    for (const segment of store.segments()) {
      if (segment.sealed === null) continue;
      keyId = this.keyring.current;
      if (keyIdOf(segment.sealed) === keyId) continue;
      store.save({ ...segment, sealed: await this.#sealAgain(segment.fence, segment.sealed) });
      isChanged = true;
    }
    return { keyId, isChanged };
  }

  /** Reseals values under the current key. */
  async #sealAgain(fence: number, sealed: string): Promise<string> {
    const context = this.#context(fence);
    return this.keyring.seal(await this.keyring.open(sealed, context), context);
  }

  #context(fence: number): string[] {
    return ["build-log", this.#logId, String(fence)];
  }
}
