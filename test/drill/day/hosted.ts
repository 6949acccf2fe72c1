import { randomBytes } from "node:crypto";
import type { Client } from "../../../src/local/client.ts";
import type { Connection, HostKind } from "../../../src/protocol/connection.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import { deliver, newDelivery } from "../../support/local/git-host/deliveries.ts";
import { TELLERS } from "../../support/local/git-host/payloads/tellers.ts";
import { listen, RecordingHost } from "../../support/recording-host/recording-host.ts";

const TOKEN = "token-of-the-host";

const randomSha = (): string => randomBytes(20).toString("hex");

/** A repository at the host, with its pipelines. Each pipeline may cover its own folder. */
interface Hosted {
  id: number;
  fullName: string;
  defaultBranch: string;
  head: string;
  pulls: number;
  pipelines: number;
}

/** Builds that a push or a new pull request must create for its commit. */
export interface Promised {
  sha: string;
  builds: number;
  at: number;
  isPull: boolean;
  repositoryId: number;
  /** Set if the service answered that it processes the delivery later. */
  waits: boolean;
}

const OF_FOLDER = (n: number) => ({ paths: [`packages/p${n}/**`] });

/** A git host with many repositories without files. It records the builds' states that it receives. */
export class DayHost {
  readonly host: RecordingHost;
  readonly connection: Connection;
  readonly repositories: Hosted[];
  readonly promised: Promised[] = [];
  /** Deliveries that the service did not accept: this host never redelivers. */
  readonly lost: string[] = [];
  readonly #kind: HostKind;
  readonly #close: () => void;

  private constructor(
    kind: HostKind,
    made: { host: RecordingHost; connection: Connection; repositories: Hosted[] },
    close: () => void,
  ) {
    this.#kind = kind;
    this.host = made.host;
    this.connection = made.connection;
    this.repositories = made.repositories;
    this.#close = close;
  }

  /** Connects a repository for each number, with so many pipelines. The first one's pipelines have a folder each. */
  static async connect(
    client: Client,
    kind: HostKind,
    pipelines: number[],
    breathe: () => Promise<void>,
  ): Promise<DayHost> {
    const repositories = pipelines.map((count, n) => {
      const name = { id: 100 + n, fullName: `acme/app-${n}`, defaultBranch: "main" };
      return { ...name, head: randomSha(), pulls: 0, pipelines: count };
    });
    const host = new RecordingHost({ kind, token: TOKEN, repositories });
    const { url, close } = await listen(host);
    const wanted = { kind, name: kind, webUrl: url, token: TOKEN };
    const connection = await client.call<Connection>("POST", "/connection", wanted);
    for (const [n, one] of repositories.entries()) {
      await furnish(client, connection, one, n === 0);
      await breathe();
    }
    return new DayHost(kind, { host, connection, repositories }, close);
  }

  /** Delivers a push to the default branch that changes files in these folders. */
  async push(repository: Hosted, at: number, folders: number[] | null): Promise<void> {
    const [before, after] = [repository.head, randomSha()];
    repository.head = after;
    const timestamp = new Date(at).toISOString();
    const modified = folders === null ? ["src/a.ts"] : folders.map((n) => `packages/p${n}/a.ts`);
    const commit = { id: after, message: "Mend it", author: { name: "T", email: "t@t.invalid" }, timestamp };
    const commits = [{ ...commit, added: [], removed: [], modified }];
    const change = { ref: "refs/heads/main", before, after, commit: after, isForced: false, commits };
    const builds = folders === null ? repository.pipelines : folders.length;
    await this.#tell(repository, TELLERS[this.#kind].pushed(repository, change)[0], {
      sha: after,
      builds,
      at,
      isPull: false,
    });
  }

  /** Delivers a new pull request without its changed files. */
  async pull(repository: Hosted, at: number): Promise<void> {
    repository.pulls += 1;
    const head = randomSha();
    const pull = {
      ...{ number: repository.pulls, title: "Add it", branch: `feature-${repository.pulls}`, base: "main", head },
      ...{ isOpen: true, isMerged: false, from: repository, updatedAt: new Date(at) },
    };
    const [event] = TELLERS[this.#kind].pull(repository, pull as never, "opened", null);
    await this.#tell(repository, event, { sha: head, builds: repository.pipelines, at, isPull: true });
  }

  async #tell(
    { id }: Hosted,
    event: Parameters<typeof newDelivery>[1] | undefined,
    promised: Pick<Promised, "sha" | "builds" | "at" | "isPull">,
  ): Promise<void> {
    const hook = this.host.place.hooks.find(({ repositoryId }) => repositoryId === id);
    if (!hook || !event) throw new Error("The host has no hook or event");
    const delivery = newDelivery(hook, event);
    await deliver(this.#kind, delivery);
    this.promised.push({ ...promised, repositoryId: id, waits: / waits, /.test(delivery.answer) });
    if (delivery.status !== 202) this.lost.push(`${delivery.status} ${delivery.answer}`);
  }

  close(): void {
    this.#close();
  }
}

const furnish = async (client: Client, { id }: Connection, one: Hosted, isMonorepo: boolean): Promise<void> => {
  const linked = { hostRepoId: one.id, defaultBranch: "main" };
  const repository = await client.call<Repository>("POST", `/connection/${id}/repository`, linked);
  for (let n = 0; n < one.pipelines; n++) {
    const definition = "steps:\n  - run: echo\n";
    const on = isMonorepo ? { push: OF_FOLDER(n), pull: OF_FOLDER(n) } : { push: true };
    // In other repositories, one of four pipelines keeps its file, with three jobs, in the repository.
    const isOfFile = !isMonorepo && n === 3;
    await client.call<Pipeline>("POST", "/pipeline", {
      ...{ repoId: repository.id, name: `ci-${n}`, on },
      ...(isOfFile ? {} : { definition }),
    });
  }
};
