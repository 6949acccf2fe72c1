import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { serveGit } from "../git-backend.ts";
import type { GitRepository } from "../git-repository.ts";
import { giteaApi } from "./api/gitea.ts";
import { githubApi } from "./api/github.ts";
import { gitlabApi } from "./api/gitlab.ts";
import { deliver, type HostDelivery, newDelivery, wants } from "./deliveries.ts";
import {
  type ApiAnswer,
  type ApiRequest,
  type HostKind,
  type HostState,
  type PostedStatus,
  route,
} from "./host-state.ts";
import { type HostedPull, HostedRepository, type RefChange, type RegisteredHook } from "./hosted-repository.ts";
import type { HostEvent, Teller } from "./payloads/event.ts";
import { gitea } from "./payloads/gitea.ts";
import { github } from "./payloads/github.ts";
import { gitlab } from "./payloads/gitlab.ts";

const TELLERS: Record<HostKind, Teller> = { github, gitlab, gitea };
const APIS = {
  github: { prefix: "/api/v3", routes: githubApi, pullRef: "refs/pull/N/head" },
  gitlab: { prefix: "/api/v4", routes: gitlabApi, pullRef: "refs/merge-requests/N/head" },
  gitea: { prefix: "/api/v1", routes: giteaApi, pullRef: "refs/pull/N/head" },
};
/** The header in which each takes its token. */
const PROOFS: Record<HostKind, (token: string) => [name: string, value: string]> = {
  github: (token) => ["authorization", `Bearer ${token}`],
  gitlab: (token) => ["private-token", token],
  gitea: (token) => ["authorization", `token ${token}`],
};

/** What is wrong with a host: it cuts connections, answers with an error, or does what it is asked and cuts then. */
export type HostTrouble = "cuts" | "errs" | "loses answers" | null;

/** A request to the API, and the status of its answer: null where none was sent. */
export interface AskedOfHost extends ApiRequest {
  status: number | null;
}

/**
 * A git host on loopback: its git, its API and its hooks. A push to it, by real git, is delivered to the hooks in the
 * form of the kind; like a real host it sends each delivery once, and again only when a person asks.
 */
export class TestGitHost implements HostState {
  readonly kind: HostKind;
  readonly token: string;
  /** The password with which git may read and write. */
  readonly gitPassword: string;
  readonly account = "mill-bot";
  readonly repositories: HostedRepository[] = [];
  readonly statuses: PostedStatus[] = [];
  readonly deliveries: HostDelivery[] = [];
  readonly asked: AskedOfHost[] = [];
  url = "";
  trouble: HostTrouble = null;
  /** The most requests to the API that were under way at once. */
  mostAtOnce = 0;
  readonly #root: string;
  readonly #server: Server;
  readonly #sending = new Set<Promise<unknown>>();
  #atOnce = 0;
  #lastId = 1000;

  private constructor(kind: HostKind, folder: string, { token, gitPassword }: { token: string; gitPassword: string }) {
    this.kind = kind;
    this.token = token;
    this.gitPassword = gitPassword;
    this.#root = mkdtempSync(join(folder, `${kind}-`));
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(
    kind: HostKind,
    folder: string,
    secrets = { token: `host-token-${crypto.randomUUID()}`, gitPassword: `git-password-${crypto.randomUUID()}` },
  ): Promise<TestGitHost> {
    const host = new TestGitHost(kind, folder, secrets);
    await new Promise<void>((resolve) => host.#server.listen(0, "127.0.0.1", resolve));
    host.url = `http://127.0.0.1:${(host.#server.address() as AddressInfo).port}`;
    return host;
  }

  get apiUrl(): string {
    return this.url + APIS[this.kind].prefix;
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  addRepository(fullName: string): HostedRepository {
    const repository = new HostedRepository(this.#root, this.nextId(), fullName);
    this.repositories.push(repository);
    return repository;
  }

  /** The address that git pushes to and clones from. */
  cloneUrl({ fullName }: HostedRepository): string {
    return `${this.url}/${fullName}.git`;
  }

  /** Pushes from a repository on this machine, with a password, and waits until the hooks were told. */
  async push({ work }: GitRepository, to: HostedRepository, ...refs: string[]): Promise<void> {
    const url = this.cloneUrl(to).replace("://", `://pusher:${this.gitPassword}@`);
    // Not synchronous: this process answers it.
    await promisify(execFile)("git", ["push", "--quiet", url, ...refs], { cwd: work });
    await this.settled();
  }

  /** What a person does on the page of the repository's hooks. */
  addHook(repository: HostedRepository, { url, secret }: { url: string; secret: string }): RegisteredHook {
    const events = ["push", "create", "delete", "pull_request", "repository"];
    const gitlabEvents = ["push_events", "tag_push_events", "merge_requests_events"];
    const hook = { id: this.nextId(), url, secret, events: [...events, ...gitlabEvents] };
    repository.hooks.push(hook);
    return hook;
  }

  /** Opens a pull request for a branch of the repository itself, or of a fork of it. */
  openPull(repository: HostedRepository, branch: string, from = repository, base = "main"): HostedPull {
    const head = from.git("rev-parse", `refs/heads/${branch}`);
    const number = this.nextId();
    const pull = { number, base, branch, title: `Merge ${branch}`, head, from, isOpen: true, isMerged: false };
    const opened: HostedPull = { ...pull, updatedAt: new Date() };
    repository.pulls.push(opened);
    this.#keepPullRef(repository, opened);
    this.#tell(repository, TELLERS[this.kind].pull(repository, opened, "opened", null));
    return opened;
  }

  closePull(repository: HostedRepository, pull: HostedPull): void {
    Object.assign(pull, { isOpen: false, updatedAt: new Date() });
    this.#tell(repository, TELLERS[this.kind].pull(repository, pull, "closed", null));
  }

  /** What a person does on the page of the hook's deliveries: the same delivery again. */
  async redeliver(delivery: HostDelivery): Promise<void> {
    await deliver(this.kind, delivery);
  }

  /** Waits until no delivery is under way. */
  async settled(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending);
  }

  /** The states that a commit has had in a context, in the order in which they came. */
  statesOf(sha: string, context: string): string[] {
    return this.statuses.filter((one) => one.sha === sha && one.context === context).map(({ state }) => state);
  }

  close(): Promise<void> {
    return new Promise<void>((resolve) => this.#server.close(() => resolve()).closeAllConnections());
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prefix } = APIS[this.kind];
    if (this.trouble === "cuts") return void request.socket.destroy();
    if (this.trouble === "errs") return void response.writeHead(502).end("<h1>Bad gateway</h1>");
    if ((request.url ?? "").startsWith(`${prefix}/`)) await this.#serveApi(request, response);
    else await this.#serveGit(request, response);
  }

  async #serveApi(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { pathname, searchParams: query } = new URL(request.url ?? "/", this.url);
    const path = pathname.slice(APIS[this.kind].prefix.length);
    const { method = "GET", headers } = request;
    const text = Buffer.concat(chunks).toString();
    const asked: AskedOfHost = { method, path, query, headers, body: text && JSON.parse(text), status: null };
    this.asked.push(asked);
    const answer = this.#answer(asked);
    this.#atOnce -= 1;
    if (this.trouble === "loses answers") return void request.socket.destroy();
    asked.status = answer.status;
    response.writeHead(answer.status, { "Content-Type": "application/json", ...answer.headers });
    await new Promise<void>((resolve) => response.end(answer.body ? JSON.stringify(answer.body) : "", resolve));
    if (method === "POST" && path.endsWith("/hooks")) this.#ping();
  }

  #answer(request: ApiRequest): ApiAnswer {
    const [name, value] = PROOFS[this.kind](this.token);
    if (request.headers[name] !== value) return { status: 401, body: { message: "401 Unauthorized" } };
    return route(APIS[this.kind].routes(this), request);
  }

  /** A new hook is tried at once. */
  #ping(): void {
    for (const repository of this.repositories) {
      const [hook] = repository.hooks.slice(-1);
      if (hook && hook.id === this.#lastId) this.#tell(repository, TELLERS[this.kind].ping(repository));
    }
  }

  async #serveGit(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, password] = Buffer.from(String(request.headers.authorization).replace(/^Basic /, ""), "base64")
      .toString()
      .split(/:(.*)/s);
    if (password !== this.gitPassword) {
      return void response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end();
    }
    const path = new URL(request.url ?? "/", this.url).pathname;
    const repository = this.repositories.find(({ fullName }) => path.startsWith(`/${fullName}.git/`));
    const before = path.endsWith("/git-receive-pack") ? repository?.refs() : undefined;
    await serveGit({ root: this.#root, user: "pusher" }, request, response);
    if (repository && before) for (const change of repository.changesSince(before)) this.#pushed(repository, change);
  }

  #pushed(repository: HostedRepository, change: RefChange): void {
    this.#tell(repository, TELLERS[this.kind].pushed(repository, change));
    for (const target of this.repositories) {
      for (const pull of target.pulls) {
        const isOf = pull.isOpen && pull.from === repository && change.ref === `refs/heads/${pull.branch}`;
        if (isOf) this.#movePull(target, pull, change);
      }
    }
  }

  #movePull(target: HostedRepository, pull: HostedPull, { before, commit }: RefChange): void {
    if (commit === null) {
      this.closePull(target, pull);
      return;
    }
    Object.assign(pull, { head: commit, updatedAt: new Date() });
    this.#keepPullRef(target, pull);
    this.#tell(target, TELLERS[this.kind].pull(target, pull, "new-head", before));
  }

  /** The ref by which the head of a pull request can be fetched from its target. */
  #keepPullRef(target: HostedRepository, { number, head, from, branch }: HostedPull): void {
    const ref = APIS[this.kind].pullRef.replace("N", String(number));
    if (from !== target) execFileSync("git", ["fetch", "--quiet", from.folder, branch], { cwd: target.folder });
    target.git("update-ref", ref, head);
  }

  #tell(repository: HostedRepository, events: HostEvent[]): void {
    for (const event of events) {
      for (const hook of repository.hooks.filter((one) => wants(one, event.name))) {
        const delivery = newDelivery(hook, event);
        this.deliveries.push(delivery);
        const sent = deliver(this.kind, delivery).finally(() => this.#sending.delete(sent));
        this.#sending.add(sent);
      }
    }
  }
}
