import { isHiddenFromGit } from "../../githosts/core/git-probe.ts";
import { HostProblem } from "../../githosts/core/host-problem.ts";
import { installationToken, type TokenScope } from "../../githosts/github/app.ts";
import { AppKey } from "../../githosts/github/app-key.ts";

/** Milliseconds for which a token is used of the hour that GitHub gives it. */
const USED_MS = 45 * 60_000;
const LEFT_MS = 15 * 60_000;

/** A token; or why there is none, in words of ours: errors lose their class between objects. */
export type TokenAnswer = { token: string } | { problem: Pick<HostProblem, "kind" | "message"> };

/** @throws what is no `HostProblem` */
export const answerOf = async (token: Promise<string>): Promise<TokenAnswer> => {
  try {
    return { token: await token };
  } catch (error) {
    if (!(error instanceof HostProblem)) throw error;
    return { problem: { kind: error.kind, message: error.message } };
  }
};

/** Which App, and where it is installed. */
export interface AppFacts {
  apiUrl: string;
  /** The client id, or the number of the App. */
  issuer: string;
  installationId: string;
  /** PEM. */
  key: string;
}

/**
 * A GitHub App at one installation. Its tokens are in memory only, one request for each is under way at a time, and
 * none is used for more than 45 minutes.
 */
export class HostApp {
  readonly #facts: AppFacts;
  #key: Promise<AppKey> | null = null;
  readonly #tokens = new Map<string, { until: number; token: string }>();
  readonly #asked = new Map<string, Promise<string>>();
  /** Whether git does not take the tokens of today's form. */
  #needsClassic = false;

  constructor(facts: AppFacts) {
    this.#facts = facts;
  }

  /** Proves to GitHub that the App itself asks. @throws AppKeyUnusable */
  async jwt(): Promise<string> {
    this.#key ??= AppKey.of(this.#facts.key);
    return (await this.#key).jwt(this.#facts.issuer, Date.now());
  }

  /** A token for everything that the installation sees, with all rights of the App. @throws HostProblem */
  token(): Promise<string> {
    return this.#minted("all", {});
  }

  /** A token that reads the contents of one repository, and nothing else. @throws HostProblem */
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

  /** Lets go of the token: GitHub took it no more. The next one is a new one. */
  forgetToken(): void {
    this.#tokens.delete("all");
  }

  /** @param instead Looks at a new token, and says what to ask for in its place; null where it is right. */
  async #minted(
    name: string,
    scope: TokenScope,
    instead: (token: string) => Promise<TokenScope | null> = async () => null,
  ): Promise<string> {
    const known = this.#tokens.get(name);
    if (known && Date.now() < known.until) return known.token;
    let asked = this.#asked.get(name);
    if (!asked) {
      asked = this.#ask(name, { ...scope, isClassic: this.#needsClassic }, instead).finally(() =>
        this.#asked.delete(name),
      );
      this.#asked.set(name, asked);
    }
    return asked;
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
