import { loadKeyring } from "../../crypto/keyring.ts";
import { type ConnectionToAsk, readConnection } from "../../db/connection-row.ts";
import { databaseOf } from "../../db/database-of.ts";
import { connectionContext } from "../../domain/seal-context.ts";
import { HostProblem } from "../../githosts/core/host-api.ts";
import { installationToken, isHiddenFromGit, type TokenScope } from "../../githosts/github/app.ts";
import { AppKey, readAppSecret } from "../../githosts/github/app-key.ts";
import { MINUTE_MS } from "../../protocol/units.ts";

/** Milliseconds for which the service uses a token. GitHub's tokens live for an hour. */
const USED_MS = 45 * MINUTE_MS;
const LEFT_MS = 15 * MINUTE_MS;

/**
 * A token, or the reason why there is no token. The reason is text in our words, because errors lose their class
 * between objects.
 */
export type TokenAnswer = { token: string } | { problem: Pick<HostProblem, "kind" | "message"> };

/** Returns the token, or the problem if the promise fails with a `HostProblem`. @throws any other error */
export const toTokenAnswer = async (token: Promise<string>): Promise<TokenAnswer> => {
  try {
    return { token: await token };
  } catch (error) {
    if (!(error instanceof HostProblem)) throw error;
    return { problem: { kind: error.kind, message: error.message } };
  }
};

/** The App and its installation. */
interface AppFacts {
  apiUrl: string;
  /** The App's client id or number. */
  issuer: string;
  installationId: string;
  /** The App's private key, as PEM. */
  key: string;
}

/**
 * A GitHub App at one installation. Keeps its tokens only in memory. Requests each token at most once at a time, and
 * uses no token for more than 45 minutes.
 */
export class HostApp {
  readonly #facts: AppFacts;
  #key: Promise<AppKey> | null = null;
  readonly #tokens = new Map<string, { until: number; token: string }>();
  readonly #requests = new Map<string, Promise<string>>();
  /** Whether git rejects tokens in the current format. */
  #needsClassic = false;

  constructor(facts: AppFacts) {
    this.#facts = facts;
  }

  /** Creates the proof that a request comes from the App itself. @throws AppKeyUnusable */
  async jwt(): Promise<string> {
    this.#key ??= AppKey.of(this.#facts.key);
    return (await this.#key).jwt(this.#facts.issuer, Date.now());
  }

  /** Returns a token for everything that the installation sees, with all rights of the App. @throws HostProblem */
  token(): Promise<string> {
    return this.#minted("all", {});
  }

  /** Returns a token that only reads the contents of one repository. @throws HostProblem */
  async cloneToken(repoId: number, cloneUrl: string): Promise<string> {
    this.#letGoOfOld();
    const scope: TokenScope = { repositoryIds: [repoId], permissions: { contents: "read" } };
    return this.#minted(`clone ${repoId}`, scope, async (token) => {
      if (this.#needsClassic || !(await isHiddenFromGit(cloneUrl, token))) return null;
      this.#needsClassic = true;
      return { ...scope, isClassic: true };
    });
  }

  #letGoOfOld(): void {
    for (const [name, { until }] of this.#tokens) if (until < Date.now()) this.#tokens.delete(name);
  }

  /** Forgets the token, because GitHub rejected it. The next call requests a new one. */
  forgetToken(): void {
    this.#tokens.delete("all");
  }

  /**
   * Returns a token from memory, or requests a new one.
   * @param instead Checks a new token. Returns the scope to request in its place, or null if the token is right.
   */
  async #minted(
    name: string,
    scope: TokenScope,
    instead: (token: string) => Promise<TokenScope | null> = async () => null,
  ): Promise<string> {
    const current = this.#tokens.get(name);
    if (current && Date.now() < current.until) return current.token;
    let request = this.#requests.get(name);
    if (!request) {
      request = this.#ask(name, { ...scope, isClassic: this.#needsClassic }, instead).finally(() =>
        this.#requests.delete(name),
      );
      this.#requests.set(name, request);
    }
    return request;
  }

  async #ask(name: string, scope: TokenScope, instead: (token: string) => Promise<TokenScope | null>): Promise<string> {
    const { apiUrl, installationId } = this.#facts;
    const { token, expiresAt } = await installationToken(apiUrl, await this.jwt(), installationId, scope);
    const other = await instead(token);
    if (other) return this.#ask(name, other, async () => null);
    this.#tokens.set(name, { token, until: Math.min(Date.now() + USED_MS, expiresAt - LEFT_MS) });
    return token;
  }
}

/** Milliseconds for which the object reuses what it last read of a connection. */
const FRESH_MS = 5 * MINUTE_MS;

/** How to call the host: as an App, or with a person's token. */
interface OpenConnection {
  state: "open";
  kind: ConnectionToAsk["kind"];
  apiUrl: string;
  app: HostApp | null;
  /** @throws HostProblem if the host gives the App no token */
  token(): Promise<string>;
}

/** The connection's state. `gone` means that it was deleted; `silent` means that the host gets no statuses. */
export type ConnectionState = { state: "gone" } | { state: "silent"; app: HostApp | null } | OpenConnection;

/** The connection of one object. The object keeps the token only in memory, and rereads it after five minutes. */
export class HostConnection {
  readonly #env: Env;
  #lastRead: { value: ConnectionState; until: number } | null = null;
  /** The App. The object keeps it longer than the last read, because the App's token stays valid for longer. */
  #app: { facts: AppFacts; app: HostApp } | null = null;

  constructor(env: Env) {
    this.#env = env;
  }

  /** @throws if D1 is unavailable, or if the token cannot be opened */
  async read(name: string): Promise<ConnectionState> {
    if (this.#lastRead && Date.now() < this.#lastRead.until) return this.#lastRead.value;
    const value = await this.#readAnew(name);
    this.#lastRead = { value, until: Date.now() + FRESH_MS };
    return value;
  }

  /** Whether the host gets no statuses, according to the last read. */
  get isSilent(): boolean {
    return this.#lastRead !== null && Date.now() < this.#lastRead.until && this.#lastRead.value.state !== "open";
  }

  /** Forgets the last read, because somebody may have replaced the token, or because the host rejects it. */
  forget(): void {
    this.#lastRead = null;
    this.#app?.app.forgetToken();
  }

  async #readAnew(name: string): Promise<ConnectionState> {
    const [orgId = "", id = ""] = name.split("/");
    const row = await readConnection(databaseOf(this.#env, orgId), orgId, id);
    if (!row) return { state: "gone" };
    if (row.auth === "none" || row.sealed === null) return { state: "silent", app: null };
    const secret = await loadKeyring(this.#env.SECRETS_KEYS).openText(row.sealed, connectionContext(row));
    const open = row.auth === "app" ? this.#withApp(row, secret) : openWith(row, secret);
    return row.isActive || open.state !== "open" ? open : { state: "silent", app: open.app };
  }

  #withApp(row: ConnectionToAsk, secret: string): ConnectionState {
    const { key, formerToken } = readAppSecret(secret);
    const issuer = row.clientId ?? row.appId ?? "";
    // Until the App is installed somewhere, statuses use the former token.
    if (row.installationId === null) return formerToken ? openWith(row, formerToken) : { state: "silent", app: null };
    const facts = { apiUrl: row.apiUrl, issuer, installationId: row.installationId, key };
    const app = this.#openApp(facts);
    return { state: "open", kind: row.kind, apiUrl: row.apiUrl, app, token: () => app.token() };
  }

  #openApp(facts: AppFacts): HostApp {
    if (this.#app && JSON.stringify(this.#app.facts) === JSON.stringify(facts)) return this.#app.app;
    this.#app = { facts, app: new HostApp(facts) };
    return this.#app.app;
  }
}

const openWith = ({ kind, apiUrl }: ConnectionToAsk, token: string): OpenConnection => ({
  state: "open",
  kind,
  apiUrl,
  app: null,
  token: async () => token,
});
