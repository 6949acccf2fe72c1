import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import type { HostKind } from "../../../../src/protocol/connection.ts";
import type { HostedHook } from "../../recording-host/host-state.ts";
import { MANNERS } from "../../recording-host/hosts.ts";
import { RecordingHost } from "../../recording-host/recording-host.ts";
import { serveGit } from "../git-backend.ts";
import type { GitRepository } from "../git-repository.ts";
import { BareRepository, type HostedPull, type RefChange } from "./bare-repository.ts";
import { deliver, type HostDelivery, newDelivery, wants } from "./deliveries.ts";
import type { HostEvent } from "./payloads/event.ts";
import { TELLERS } from "./payloads/tellers.ts";

/** The refs under which a target repository offers pull requests. */
const PULL_REFS: Record<HostKind, string> = { github: "pull", gitlab: "merge-requests", gitea: "pull" };
/** The events of all kinds, which a hook created by hand receives. */
const ALL_EVENTS = [
  ...["push", "create", "delete", "pull_request", "repository"],
  ...["push_events", "tag_push_events", "merge_requests_events"],
];

/** A fault of a host: it cuts connections, answers with an error, or processes a request and then cuts. */
export type HostTrouble = "cuts" | "errs" | "loses answers" | null;

interface Secrets {
  /** The token that the API accepts. */
  token: string;
  /** The password with which git may read and write. */
  gitPassword: string;
}

const randomSecrets = (): Secrets => ({
  token: `host-token-${crypto.randomUUID()}`,
  gitPassword: `git-password-${crypto.randomUUID()}`,
});

let lastId = 1000;

/** The hosts of a test share a name, so their repositories must not share an id. */
const nextId = (): number => {
  lastId += 1;
  return lastId;
};

/**
 * A git host on loopback: its git, its hooks, and the API of a `RecordingHost`. It delivers a push by real git to the
 * hooks in the form of its kind. Like a real host, it sends each delivery once, and again only on request.
 */
export class TestGitHost {
  readonly kind: HostKind;
  readonly secrets: Secrets;
  readonly api: RecordingHost;
  readonly repositories: BareRepository[] = [];
  readonly deliveries: HostDelivery[] = [];
  /** Ids of public repositories. */
  readonly publicIds = new Set<number>();
  /** Git's reads, and whether they used a token of the App. */
  readonly gitReads: { repositoryId: number; isMinted: boolean }[] = [];
  url = "";
  trouble: HostTrouble = null;
  /** The highest number of simultaneous requests to the API. */
  mostAtOnce = 0;
  readonly #root: string;
  readonly #server: Server;
  readonly #sending = new Set<Promise<unknown>>();
  #atOnce = 0;

  private constructor(kind: HostKind, folder: string, secrets: Secrets) {
    this.kind = kind;
    this.secrets = secrets;
    const { token } = secrets;
    const scopes = kind === "gitlab" ? ["api"] : ["repo", "admin:repo_hook"];
    this.api = new RecordingHost({ kind, token, scopes, repositories: this.repositories });
    this.#root = mkdtempSync(join(folder, `${kind}-`));
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** @param folder The folder of the repositories. */
  static async start(kind: HostKind, folder: string, secrets = randomSecrets()): Promise<TestGitHost> {
    const host = new TestGitHost(kind, folder, secrets);
    await new Promise<void>((resolve) => host.#server.listen(0, "127.0.0.1", resolve));
    host.url = `http://127.0.0.1:${(host.#server.address() as AddressInfo).port}`;
    return host;
  }

  get apiUrl(): string {
    return this.url + MANNERS[this.kind].api;
  }

  addRepository(fullName: string): BareRepository {
    const repository = new BareRepository(this.#root, nextId(), fullName);
    this.repositories.push(repository);
    return repository;
  }

  /** Returns the address to which git pushes and from which it clones. */
  cloneUrl({ fullName }: BareRepository): string {
    return `${this.url}/${fullName}.git`;
  }

  /** Pushes from a repository on this machine, with a password, and waits until the hooks have received it. */
  async push({ work }: GitRepository, to: BareRepository, ...refs: string[]): Promise<void> {
    const url = this.cloneUrl(to).replace("://", `://pusher:${this.secrets.gitPassword}@`);
    // Not synchronous, because this process answers it.
    await promisify(execFile)("git", ["push", "--quiet", url, ...refs], { cwd: work });
    await this.settled();
  }

  /** Does what a person does on the repository's page of hooks. */
  addHook(repository: BareRepository, { url, secret }: { url: string; secret: string }): void {
    const hook = { id: nextId(), repositoryId: repository.id, url, secret, events: ALL_EVENTS };
    this.api.place.hooks.push(hook);
  }

  /** Opens a pull request for a branch of the repository itself, or of a fork of it. */
  async openPull(repository: BareRepository, branch: string, from = repository): Promise<HostedPull> {
    const head = from.git("rev-parse", `refs/heads/${branch}`);
    const [number, title, updatedAt] = [nextId(), `Merge ${branch}`, new Date()];
    const pull = { number, base: "main", branch, title, head, from, isOpen: true, isMerged: false, updatedAt };
    repository.pulls.push(pull);
    this.#keepPullRef(repository, pull);
    this.#tell(repository, TELLERS[this.kind].pull(repository, pull, "opened", null));
    await this.settled();
    return pull;
  }

  async closePull(repository: BareRepository, pull: HostedPull): Promise<void> {
    this.#closePull(repository, pull);
    await this.settled();
  }

  /** Does what a person does on the hook's page of deliveries: sends the same delivery again. */
  redeliver(delivery: HostDelivery): Promise<void> {
    return deliver(this.kind, delivery);
  }

  /** Waits until no delivery is in progress. */
  async settled(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending);
  }

  /** Returns the states that a commit got in a context, in order, in the host's words. */
  statesOf(sha: string, wanted: string): string[] {
    const ofCommit = this.api.place.statuses.filter((one) => one.sha === sha);
    return ofCommit
      .filter(({ body: { context, name } }) => (context ?? name) === wanted)
      .map(({ body }) => String(body.state));
  }

  close(): Promise<void> {
    return new Promise<void>((resolve) => this.#server.close(() => resolve()).closeAllConnections());
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.trouble === "cuts") request.socket.destroy();
    else if (this.trouble === "errs") response.writeHead(502).end("<h1>Bad gateway</h1>");
    else if (`${this.url}${request.url}`.startsWith(`${this.apiUrl}/`)) await this.#serveApi(request, response);
    else await this.#serveGit(request, response);
  }

  /** Reports whether git got a token of the App that reads this repository. */
  #isMintedFor({ id }: BareRepository, basic: string): boolean {
    const given = Buffer.from(basic, "base64").toString();
    return this.api.place.minted.some(
      ({ token, body }) => given === `x-access-token:${token}` && body.repository_ids?.includes(id) === true,
    );
  }

  async #serveApi(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = "GET" } = request;
    const headers = new Headers(request.headers as Record<string, string>);
    const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
    const hooks = this.api.place.hooks.length;
    const answer = await this.api.handle(new Request(this.url + request.url, { method, headers, body }));
    this.#atOnce -= 1;
    if (this.trouble === "loses answers") request.socket.destroy();
    else response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    for (const hook of this.api.place.hooks.slice(hooks)) this.#ping(hook);
  }

  /** GitHub tests a new hook at once. */
  #ping({ repositoryId }: HostedHook): void {
    const repository = this.repositories.find(({ id }) => id === repositoryId);
    if (repository) this.#tell(repository, TELLERS[this.kind].ping(repository));
  }

  async #serveGit(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const basic = String(request.headers.authorization).replace(/^Basic /, "");
    const path = new URL(request.url ?? "/", this.url).pathname;
    const repository = this.repositories.find(({ fullName }) => path.startsWith(`/${fullName}.git/`));
    const isRead = !`${request.url}`.includes("git-receive-pack");
    const isPublic = isRead && repository !== undefined && this.publicIds.has(repository.id);
    const isMinted = isRead && repository !== undefined && this.#isMintedFor(repository, basic);
    if (repository) this.gitReads.push({ repositoryId: repository.id, isMinted });
    if (!isPublic && !isMinted && !Buffer.from(basic, "base64").toString().endsWith(`:${this.secrets.gitPassword}`)) {
      response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end();
      return;
    }
    const before = path.endsWith("/git-receive-pack") ? repository?.refs() : undefined;
    await serveGit({ root: this.#root, user: "pusher" }, request, response, () => {
      if (repository && before) for (const change of repository.changesSince(before)) this.#pushed(repository, change);
    });
  }

  #pushed(repository: BareRepository, change: RefChange): void {
    this.#tell(repository, TELLERS[this.kind].pushed(repository, change));
    for (const target of this.repositories) {
      for (const pull of target.pulls) {
        const isOf = pull.isOpen && pull.from === repository && change.ref === `refs/heads/${pull.branch}`;
        if (isOf) this.#movePull(target, pull, change);
      }
    }
  }

  #movePull(target: BareRepository, pull: HostedPull, { before, commit }: RefChange): void {
    if (commit === null) {
      this.#closePull(target, pull);
      return;
    }
    Object.assign(pull, { head: commit, updatedAt: new Date() });
    this.#keepPullRef(target, pull);
    this.#tell(target, TELLERS[this.kind].pull(target, pull, "new-head", before));
  }

  #closePull(target: BareRepository, pull: HostedPull): void {
    Object.assign(pull, { isOpen: false, updatedAt: new Date() });
    this.#tell(target, TELLERS[this.kind].pull(target, pull, "closed", null));
  }

  #keepPullRef(target: BareRepository, { number, head, from, branch }: HostedPull): void {
    if (from !== target) execFileSync("git", ["fetch", "--quiet", from.folder, branch], { cwd: target.folder });
    target.git("update-ref", `refs/${PULL_REFS[this.kind]}/${number}/head`, head);
  }

  #tell(repository: BareRepository, events: HostEvent[]): void {
    for (const event of events) {
      const { hooks } = this.api.place;
      for (const hook of [...hooks, ...this.#hookOfApp(repository)]) {
        if (hook.repositoryId === repository.id && wants(hook, event.name)) this.#send(newDelivery(hook, event));
      }
    }
  }

  #hookOfApp({ id }: BareRepository): HostedHook[] {
    const { settings, appHook } = this.api.place;
    const { url, secret } = appHook;
    const isInstalled = settings.app?.installationId !== undefined;
    return isInstalled && url && secret ? [{ id: 1, repositoryId: id, url, secret, events: ALL_EVENTS }] : [];
  }

  #send(delivery: HostDelivery): void {
    this.deliveries.push(delivery);
    const sent = deliver(this.kind, delivery).finally(() => this.#sending.delete(sent));
    this.#sending.add(sent);
  }
}
