import { type NamedKey, parseKeys } from "../../crypto/keys.ts";
import { Signer } from "../../crypto/signer.ts";
import { oncePer } from "../../once-per.ts";
import type { HostKind } from "../../protocol/connection.ts";
import { HOSTS, isHostKind } from "../hosts.ts";

const SHAPE = /^mrh_([a-z0-9-]{1,64})_([a-z]{1,32})\.([0-9a-f-]{36})\.([1-9][0-9]{0,8})_([A-Za-z0-9]{12})$/;

/** One generation of a connection's hook. Each generation has its own address and secret. */
export interface Hook {
  orgId: string;
  /** The kind of the sender, and so the kind of proof. */
  kind: HostKind;
  connectionId: string;
  generation: number;
}

/** The values for a person or the host: the last part of the hook's address, and its secret. */
interface HookGrant {
  token: string;
  secret: string;
}

const parts = ({ kind, connectionId, generation }: Hook): string => `${kind}.${connectionId}.${generation}`;

/**
 * Derives addresses `mrh_ORGANIZATION_KIND.CONNECTION.GENERATION_TAG` and their secrets from the keys of `TOKEN_KEYS`.
 * The service stores neither, and rejects a forged address without a call to the database or an object.
 */
export class HookMint {
  readonly #signer: Signer;

  constructor(keys: readonly NamedKey[]) {
    this.#signer = new Signer(keys);
  }

  /** Returns the same address and secret for the same hook as long as the first key stays the same. */
  async grant(hook: Hook): Promise<HookGrant> {
    const key = this.#signer.first;
    const tag = await this.#signer.tag(key, "mrh", hook.orgId, parts(hook));
    return { token: `mrh_${hook.orgId}_${parts(hook)}_${tag}`, secret: await this.#secret(key, hook) };
  }

  /**
   * Returns the hook of an address with its secret, under the key that created the address; `undefined` for a forged
   * address. Only the owner knows whether the connection and this generation are still valid.
   */
  async recognize(token: string): Promise<(Hook & { secret: string }) | undefined> {
    const [, orgId = "", kind, connectionId = "", generation, tag = ""] = SHAPE.exec(token) ?? [];
    if (!kind || !isHostKind(kind)) return undefined;
    const hook: Hook = { orgId, kind, connectionId, generation: Number(generation) };
    const key = await this.#signer.keyOf(tag, "mrh", orgId, parts(hook));
    return key && { ...hook, secret: await this.#secret(key, hook) };
  }

  async #secret(key: NamedKey, { orgId, kind, connectionId, generation }: Hook): Promise<string> {
    return HOSTS[kind].hookSecret(await this.#signer.mac(key, "hook", orgId, kind, connectionId, String(generation)));
  }
}

const once = oncePer<HookMint>();

/**
 * Loads the mint of the Worker secret `TOKEN_KEYS`, parsed once per isolate.
 * @throws KeysUnusable
 */
export const loadHookMint = (text: string | undefined): HookMint =>
  once(text ?? "", () => new HookMint(parseKeys(text)));

/**
 * Returns the pool's name for one generation of a connection's hook. Under this name the pool records that the hook is
 * no longer valid.
 */
export const hookName = (connectionId: string, generation: number): string => `hook:${connectionId}.${generation}`;
