import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, vi } from "vitest";
import type { Client } from "../../../src/local/client.ts";
import { waitForEnd } from "../../../src/local/demo.ts";
import type { Build } from "../../../src/protocol/build.ts";
import type { Connection } from "../../../src/protocol/connection.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import { type RunningAgent, startAgent } from "../../support/local/agent.ts";
import type { BareRepository } from "../../support/local/git-host/bare-repository.ts";
import { TestGitHost } from "../../support/local/git-host/git-host.ts";
import { type GitRepository, makeRepository } from "../../support/local/git-repository.ts";
import { type LocalService, startLocalService } from "../../support/local/service.ts";

/** Shared by all parts of the test: a service, and an organization with agents. */
export interface Stage {
  service: LocalService;
  client: Client;
  agents: RunningAgent[];
  /** Projects whose builds may still wait. */
  projects: Project[];
}

export interface HostedStage {
  host: TestGitHost;
  connection: Connection;
}

/** Starts a service with an organization, and agents of these names. */
export const setUp = async (stage: Stage, names: string[]): Promise<void> => {
  stage.projects = [];
  stage.service = await startLocalService();
  stage.client = await stage.service.newOrganization("acme");
  stage.agents = await Promise.all(names.map((name) => startAgent(stage.client, stage.service.folder, name)));
};

/** Starts a git host and connects it. */
export const connectHost = async (
  { service, client }: Pick<Stage, "service" | "client">,
  kind: TestGitHost["kind"],
  hasToken = true,
): Promise<HostedStage> => {
  const host = await TestGitHost.start(kind, service.folder);
  const token = hasToken ? { token: host.secrets.token } : {};
  const connection = await client.call<Connection>("POST", "/connection", {
    ...{ kind, name: host.url, webUrl: host.url, ...token },
  });
  return { host, connection };
};

export const tearDown = async ({ projects = [], agents = [], service }: Partial<Stage>): Promise<void> => {
  for (const project of projects) project.letGo();
  await Promise.all(agents.map((agent) => agent.stop()));
  await Promise.all([...hostsOf(projects)].map((host) => host.close()));
  await service?.remove();
};

const hostsOf = (projects: Project[]): Set<TestGitHost> => new Set(projects.map(({ host }) => host));

/** Checks the requests to all git hosts of the test. */
export const expectGoodManners = ({ projects }: Stage, leastRequests: number): void => {
  const requests = [...hostsOf(projects)].flatMap(({ api }) => api.requests);
  expect(requests.length).toBeGreaterThan(leastRequests);
  expect(requests.flatMap(({ problems }) => problems)).toEqual([]);
};

/** Prints the build's event, then waits until `letGo` releases its commit, or all. */
const WAITING = `steps:
  - run: |
      echo "event=$MILLRACE_EVENT ref=$MILLRACE_REF tag=$MILLRACE_TAG pull=$MILLRACE_PULL base=$MILLRACE_PULL_BASE"
      while [ ! -e "$GO/$MILLRACE_COMMIT" ] && [ ! -e "$GO/all" ]; do sleep 0.2; done
`;

const soon = { timeout: 120_000, interval: 200 };

/** Waits until the values are equal. Unlike `expect.poll`, it suits tests that run at the same time. */
export const see = (now: () => unknown, wanted: unknown): Promise<void> =>
  vi.waitFor(async () => expect(await now()).toEqual(wanted), soon);

/** A connected host's repository, with a pipeline and a clone to push from. */
export class Project {
  readonly #stage: Stage;
  readonly host: TestGitHost;
  readonly connection: Connection;
  readonly bare: BareRepository;
  readonly git: GitRepository;
  readonly repository: Repository;
  readonly pipeline: Pipeline;
  readonly #go: string;

  private constructor(
    stage: Stage,
    { host, connection }: HostedStage,
    made: Pick<Project, "bare" | "git" | "repository" | "pipeline">,
  ) {
    this.#stage = stage;
    this.host = host;
    this.connection = connection;
    this.bare = made.bare;
    this.git = made.git;
    this.repository = made.repository;
    this.pipeline = made.pipeline;
    this.#go = join(stage.service.folder, `go-${made.repository.id}`);
    mkdirSync(this.#go);
  }

  /** Connects a project to its own GitHub: each GitHub accepts one state a second, whoever waits. */
  static async alone(stage: Stage, name: string): Promise<Project> {
    return Project.connect(stage, name, {}, await connectHost(stage, "github"));
  }

  /** Creates the repository at the host with its first commit, and connects it as a person does. */
  static async connect(
    stage: Stage,
    name: string,
    files: Record<string, string>,
    { host, connection }: HostedStage,
  ): Promise<Project> {
    const { client, service } = stage;
    const bare = host.addRepository(`acme/${name}`);
    const git = makeRepository(service.folder, { ".millrace.yml": WAITING, ...files });
    await host.push(git, bare, "main");
    const repository = await client.call<Repository>("POST", `/connection/${connection.id}/repository`, {
      ...{ hostRepoId: bare.id, defaultBranch: "main", ...(connection.hasToken ? {} : { fullName: bare.fullName }) },
    });
    const credential = { kind: "token", username: "builder", value: host.secrets.gitPassword };
    await client.call("PUT", `/repository/${repository.id}/credential`, credential);
    const pipeline = await client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci" });
    await host.settled();
    const project = new Project(stage, { host, connection }, { bare, git, repository, pipeline });
    stage.projects.push(project);
    await client.call("POST", "/secrets/variables", {
      ...{ key: "GO", value: project.#go, isSecret: false, scope: "pipeline", pipelineId: pipeline.id },
    });
    return project;
  }

  /** Commits these files on the current branch. @returns the commit */
  commit(message: string, files: Record<string, string> = {}): string {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(this.git.work, path, ".."), { recursive: true });
      writeFileSync(join(this.git.work, path), text);
    }
    this.git.git("add", "--all");
    this.git.git("commit", "--quiet", "--allow-empty", "--message", message);
    return this.git.git("rev-parse", "HEAD");
  }

  push(...refs: string[]): Promise<void> {
    return this.host.push(this.git, this.bare, ...refs);
  }

  /** Lets a commit's builds end. Without a commit, lets all current and future builds end. */
  letGo(sha = "all"): void {
    writeFileSync(join(this.#go, sha), "");
  }

  async builds(): Promise<Build[]> {
    return await this.#stage.client.call<Build[]>("GET", `/build?repoId=${this.repository.id}`);
  }

  /** Waits until the list has so many builds. @returns them, the oldest first */
  async seeBuilds(count: number): Promise<Build[]> {
    await see(async () => (await this.builds()).length, count);
    return (await this.builds()).sort((left, right) => left.number - right.number);
  }

  /** Waits until all builds have ended and the database knows: the next build finds its base there. */
  async seeEnds(count: number): Promise<Build[]> {
    const { client } = this.#stage;
    const builds = await this.seeBuilds(count);
    const ended = await Promise.all(builds.map(({ id }) => waitForEnd(client, id)));
    const untold = async () =>
      (await client.call<{ outbox: { builds: number } }>("GET", "/buildagent/metrics")).outbox.builds;
    await see(untold, 0);
    return ended;
  }

  seeStatus(build: Build, status: Build["status"]): Promise<void> {
    const now = async () => (await this.#stage.client.call<Build>("GET", `/build/${build.id}`)).status;
    return see(now, status);
  }

  /** Waits until the host has received exactly these states. */
  seeStates(sha: string, context: string, states: string[]): Promise<void> {
    return see(() => this.host.statesOf(sha, context), states);
  }

  /** Waits until the host has received the final success, and otherwise only that the build waits for the pipeline. */
  async seeSuccess(sha: string): Promise<void> {
    await this.seeStates(sha, "millrace/ci", ["pending", "success"]);
    await this.seeStates(sha, "millrace", ["success"]);
  }

  /** Waits until the host's last state is this one. */
  seeLast(sha: string, context: string, state: string): Promise<void> {
    return see(() => this.host.statesOf(sha, context).at(-1), state);
  }

  async logOf({ id }: Build): Promise<string> {
    const { url, token } = this.#stage.client;
    return (await fetch(`${url}/build/${id}/log`, { headers: { Authorization: `Bearer ${token}` } })).text();
  }
}
