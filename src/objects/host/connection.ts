import { loadKeyring } from "../../crypto/keyring.ts";
import { type ConnectionToAsk, readConnection } from "../../db/connection-row.ts";
import { databaseOf } from "../../db/database-of.ts";
import { connectionContext } from "../../domain/seal-context.ts";
import { readAppSecret } from "../../githosts/core/connection-secret.ts";
import { type AppFacts, HostApp } from "./app.ts";

/** Milliseconds for which a connection is taken to be as it was read. */
const FRESH_MS = 5 * 60_000;

/** How the host is asked: as an App, or with the token that a person gave. */
interface OpenConnection {
  state: "open";
  kind: ConnectionToAsk["kind"];
  apiUrl: string;
  app: HostApp | null;
  /** @throws HostProblem where the App gets none */
  token(): Promise<string>;
}

/** What is known of the connection: `gone` where it was deleted, `silent` where nothing is told to its host. */
export type Known = { state: "gone" } | { state: "silent"; app: HostApp | null } | OpenConnection;

/** The connection of one object. Its token is in memory only, and is read anew after five minutes. */
export class HostConnection {
  readonly #env: Env;
  #known: { value: Known; until: number } | null = null;
  /** It outlives the reading: its token is good for longer. */
  #app: { facts: AppFacts; app: HostApp } | null = null;

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

  /** Reads it anew the next time: the token may have been changed, or is not accepted any more. */
  forget(): void {
    this.#known = null;
    this.#app?.app.forgetToken();
  }

  async #readAnew(name: string): Promise<Known> {
    const [orgId = "", id = ""] = name.split("/");
    const row = await readConnection(databaseOf(this.#env, orgId), orgId, id);
    if (!row) return { state: "gone" };
    if (row.auth === "none" || row.sealed === null) return { state: "silent", app: null };
    const secret = await loadKeyring(this.#env.SECRETS_KEYS).openText(row.sealed, connectionContext(row));
    const open = row.auth === "app" ? this.#withApp(row, secret) : openWith(row, secret);
    return row.isActive || open.state !== "open" ? open : { state: "silent", app: open.app };
  }

  #withApp(row: ConnectionToAsk, secret: string): Known {
    const { key, formerToken } = readAppSecret(secret);
    const issuer = row.clientId ?? row.appId ?? "";
    // Until it is installed somewhere, states are told as before.
    if (row.installationId === null) return formerToken ? openWith(row, formerToken) : { state: "silent", app: null };
    const facts = { apiUrl: row.apiUrl, issuer, installationId: row.installationId, key };
    const app = this.#appOf(facts);
    return { state: "open", kind: row.kind, apiUrl: row.apiUrl, app, token: () => app.token() };
  }

  #appOf(facts: AppFacts): HostApp {
    if (this.#app && JSON.stringify(this.#app.facts) === JSON.stringify(facts)) return this.#app.app;
    this.#app = { facts, app: new HostApp(facts) };
    return this.#app.app;
  }
}

const openWith = ({ kind, apiUrl }: ConnectionToAsk, token: string): OpenConnection => ({
  ...{ state: "open", kind, apiUrl, app: null },
  token: async () => token,
});
