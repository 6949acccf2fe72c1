import { type Keyring, loadKeyring } from "../../crypto/keyring.ts";
import { compile, Masker } from "../../mask/mask.ts";
import type { Needles } from "../../mask/scanner.ts";
import type { LogSegment } from "./store.ts";

/** An active masker, and how many bytes of the lease it has received: it may hold some of them back. */
export interface Masking {
  fence: number;
  needles: Needles;
  masker: Masker;
  received: number;
}

/** The values to mask in one log: sealed on disk, and in memory only while a lease writes. */
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

  /** The masker of the segment, from where its last one stopped. */
  async of(segment: LogSegment): Promise<Masking> {
    const { fence, position } = segment;
    if (this.#active?.fence === fence) return this.#active;
    const needles = compile(await this.openSecrets(segment));
    this.#active = { fence, needles, masker: new Masker(needles, position), received: position.offset };
    return this.#active;
  }

  /** Drops the masker: it may be ahead of the disk, or its values are no longer right. */
  forget(): void {
    this.#active = null;
  }

  async openSecrets({ sealed, fence }: LogSegment): Promise<string[]> {
    return sealed === null ? [] : JSON.parse(await this.keyring.openText(sealed, this.#context(fence)));
  }

  /** `secrets` are values as JSON. */
  seal(fence: number, secrets: string): Promise<string> {
    return this.keyring.seal(secrets, this.#context(fence));
  }

  /** The same values under the current key. */
  async sealAgain(fence: number, sealed: string): Promise<string> {
    const context = this.#context(fence);
    return this.keyring.seal(await this.keyring.open(sealed, context), context);
  }

  #context(fence: number): string[] {
    return ["build-log", this.#logId, String(fence)];
  }
}
