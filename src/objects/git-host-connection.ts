import { loadKeyring } from "../crypto/keyring.ts";
import { readConnection } from "../db/connection-row.ts";
import { databaseOf } from "../db/database-of.ts";
import { connectionContext } from "../domain/seal-context.ts";
import type { StatusAddress } from "../hosts/post-status.ts";

/** Milliseconds for which a connection is taken to be as it was read. */
const FRESH_MS = 5 * 60_000;

/**
 * What is known of the connection: `gone` where it was deleted, `silent` where nothing is told to its host, and else
 * where and with which token statuses are told.
 */
export type Known = { state: "gone" } | { state: "silent" } | { state: "open"; address: StatusAddress };

/** The connection of one object. Its token is in memory only, and is read anew after five minutes. */
export class HostConnection {
  readonly #env: Env;
  #known: { value: Known; until: number } | null = null;

  constructor(env: Env) {
    this.#env = env;
  }

  /** @throws where D1 is away, or where the token cannot be opened */
  async read(name: string): Promise<Known> {
    if (this.#known && Date.now() < this.#known.until) return this.#known.value;
    const value = await this.#readAnew(name);
    this.#known = { value, until: Date.now() + FRESH_MS };
    return value;
  }

  /** Whether it is known that nothing is told to its host. */
  get isSilent(): boolean {
    return this.#known !== null && Date.now() < this.#known.until && this.#known.value.state !== "open";
  }

  /** Reads it anew the next time: the token may have been changed. */
  forget(): void {
    this.#known = null;
  }

  async #readAnew(name: string): Promise<Known> {
    const [orgId = "", id = ""] = name.split("/");
    const row = await readConnection(databaseOf(this.#env, orgId), orgId, id);
    if (!row) return { state: "gone" };
    if (!row.isActive || row.auth !== "token" || row.sealed === null) return { state: "silent" };
    const token = await loadKeyring(this.#env.SECRETS_KEYS).openText(row.sealed, connectionContext(row));
    return { state: "open", address: { kind: row.kind, apiUrl: row.apiUrl, token } };
  }
}
