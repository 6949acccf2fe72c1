import { randomBytes } from "node:crypto";
import type { Client } from "../../../src/local/client.ts";
import type { Connection, HostKind } from "../../../src/protocol/connection.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import { deliver, type HostDelivery, newDelivery } from "../../support/local/git-host/deliveries.ts";
import { TELLERS } from "../../support/local/git-host/payloads/tellers.ts";
import type { HostedHook } from "../../support/recording-host/host-state.ts";
import { listen, RecordingHost } from "../../support/recording-host/recording-host.ts";

const REPOSITORY = { id: 41, fullName: "acme/app", defaultBranch: "main" };
const NOW = "2026-11-22T12:00:00Z";

const randomSha = (): string => randomBytes(20).toString("hex");

/** A git host that delivers pushes without any git, and records the build states that it receives. */
export class PlayedPushes {
  readonly host: RecordingHost;
  readonly repository: Repository;
  readonly connection: Connection;
  readonly #client: Client;
  readonly #hook: HostedHook;
  readonly #close: () => void;
  /** The last pushed commit. */
  head = randomSha();

  private constructor(
    client: Client,
    made: Pick<PlayedPushes, "host" | "repository" | "connection">,
    close: () => void,
  ) {
    this.#client = client;
    this.host = made.host;
    this.repository = made.repository;
    this.connection = made.connection;
    const [hook] = made.host.place.hooks;
    if (!hook) throw new Error("The service registered no hook");
    this.#hook = hook;
    this.#close = close;
  }

  /** Connects a new host's repository to the client's organization. */
  static async connect(client: Client, kind: HostKind = "github"): Promise<PlayedPushes> {
    const token = "token-of-the-host";
    const host = new RecordingHost({ kind, token, repositories: [REPOSITORY] });
    const { url, close } = await listen(host);
    const wanted = { kind, name: kind, webUrl: url, token };
    const connection = await client.call<Connection>("POST", "/connection", wanted);
    const linked = { hostRepoId: REPOSITORY.id, defaultBranch: "main" };
    const repository = await client.call<Repository>("POST", `/connection/${connection.id}/repository`, linked);
    return new PlayedPushes(client, { host, repository, connection }, close);
  }

  makePipeline(): Promise<Pipeline> {
    const definition = "steps:\n  - run: echo\n";
    return this.#client.call("POST", "/pipeline", { repoId: this.repository.id, name: "ci", definition });
  }

  /** Delivers a push to the default branch. @throws unless the service has accepted it */
  async push(): Promise<HostDelivery> {
    const [before, after] = [this.head, randomSha()];
    const delivery = this.delivery(before, after);
    await deliver(this.connection.kind, delivery);
    if (delivery.status !== 202) throw new Error(`A delivery got status ${delivery.status}: ${delivery.answer}`);
    this.head = after;
    return delivery;
  }

  /** Returns an unsent delivery of a push, with a proof by the right secret or another. */
  delivery(before: string, after: string, secret = this.#hook.secret): HostDelivery {
    const commit = { id: after, message: "Mend it", author: { name: "T", email: "t@t.invalid" }, timestamp: NOW };
    const commits = [{ ...commit, added: [], removed: [], modified: ["src/a.ts"] }];
    const change = { ref: "refs/heads/main", before, after, commit: after, isForced: false, commits };
    const [event] = TELLERS[this.connection.kind].pushed(REPOSITORY, change);
    if (!event) throw new Error("A push has no event");
    return newDelivery({ ...this.#hook, secret }, event);
  }

  close(): void {
    this.#close();
  }
}
