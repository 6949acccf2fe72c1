import type { Grants } from "../../crypto/artifact-grant.ts";
import { type BadgeMint, loadBadgeMint } from "../../crypto/badge.ts";
import type { Keyring } from "../../crypto/keyring.ts";
import { loadMint, type TokenMint } from "../../crypto/token.ts";
import type { DatabaseSession } from "../../db/session.ts";
import { type HookMint, loadHookMint } from "../../githosts/core/hook-address.ts";
import { type AppStates, loadAppStates } from "../../githosts/github/app-manifest.ts";
import { type GrantFacts, openGrants } from "./grants.ts";
import { checkedKeyring, openStored, usable } from "./sealing.ts";

/** The keys in the Worker's secrets. Some of them seal values, and others sign tokens. */
export class Keys {
  readonly #env: Pick<Env, "SECRETS_KEYS" | "TOKEN_KEYS">;
  readonly #db: DatabaseSession;

  constructor(env: Pick<Env, "SECRETS_KEYS" | "TOKEN_KEYS">, db: DatabaseSession) {
    this.#env = env;
    this.#db = db;
  }

  /** @throws Refusal keyring-unavailable */
  keyring(): Promise<Keyring> {
    return checkedKeyring(this.#db, this.#env.SECRETS_KEYS);
  }

  /** @throws Refusal keyring-unavailable */
  async seal(value: string, place: readonly string[]): Promise<string> {
    return (await this.keyring()).seal(value, place);
  }

  /** Opens a stored value. @throws Damaged; Refusal keyring-unavailable */
  async open(sealed: string, place: string[]): Promise<string> {
    return openStored(this.#db, await this.keyring(), sealed, place);
  }

  /** @throws Refusal keyring-unavailable */
  get mint(): TokenMint {
    return usable("TOKEN_KEYS", () => loadMint(this.#env.TOKEN_KEYS));
  }

  /** The mint of hook addresses and secrets. @throws Refusal keyring-unavailable */
  get hooks(): HookMint {
    return usable("TOKEN_KEYS", () => loadHookMint(this.#env.TOKEN_KEYS));
  }

  /** @throws Refusal keyring-unavailable */
  get grants(): Grants<GrantFacts> {
    return openGrants(this.#env);
  }

  /** The states that visits to GitHub carry. @throws Refusal keyring-unavailable */
  get appStates(): AppStates {
    return usable("TOKEN_KEYS", () => loadAppStates(this.#env.TOKEN_KEYS));
  }

  /** @throws Refusal keyring-unavailable */
  get badges(): BadgeMint {
    return usable("TOKEN_KEYS", () => loadBadgeMint(this.#env.TOKEN_KEYS));
  }
}
