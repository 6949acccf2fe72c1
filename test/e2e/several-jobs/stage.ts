import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, vi } from "vitest";
import type { Client } from "../../../src/local/client.ts";
import type { Build } from "../../../src/protocol/build.ts";
import type { JobOfBuild } from "../../../src/protocol/build-job.ts";
import { isEnded } from "../../../src/protocol/build-states.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import { connectRepository, type GitRepository, makeRepository } from "../../support/local/git-repository.ts";
import { Machine } from "../../support/local/machine.ts";
import { type LocalService, startLocalService } from "../../support/local/service.ts";

/** Shared by all parts of the test: a service, an organization, and its three machines. */
export interface Stage {
  service: LocalService;
  client: Client;
  mac: Machine;
  android: Machine;
  web: Machine;
  /** Projects whose builds may still wait. */
  projects: Project[];
}

/* Short leases, so that tests do not wait long for their expiry. */
const VARS = { START_SECONDS: "5", LEASE_SECONDS: "8", HEARTBEAT_SECONDS: "1", POLL_SECONDS: "5" };

/** Starts a service with an organization and these machines. `start` has their agents' options. */
export const setUp = async (stage: Stage, names: Machine["name"][], start: string[] = []): Promise<void> => {
  stage.projects = [];
  stage.service = await startLocalService(VARS);
  stage.client = await stage.service.newOrganization("acme");
  const machines = names.map((name) => Machine.start(stage.service, stage.client, name, start));
  for (const machine of await Promise.all(machines)) stage[machine.name] = machine;
};

export const tearDown = async (stage: Partial<Stage>): Promise<void> => {
  for (const project of stage.projects ?? []) project.mark("go");
  await Promise.all([stage.mac, stage.android, stage.web].map((machine) => machine?.stop()));
  await stage.service?.remove();
};

const patience = { timeout: 120_000, interval: 150 };

/** Waits until the check no longer throws. */
export const soon = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, patience);

/** A repository with a pipeline. Its steps create marks in the folder `$HERE`, and wait for marks. */
export class Project {
  readonly #stage: Stage;
  readonly git: GitRepository;
  readonly repository: Repository;
  readonly pipeline: Pipeline;
  readonly #folder: string;

  private constructor(stage: Stage, git: GitRepository, repository: Repository, pipeline: Pipeline) {
    this.#stage = stage;
    this.git = git;
    this.repository = repository;
    this.pipeline = pipeline;
    this.#folder = join(stage.service.folder, `here-${repository.id}`);
    mkdirSync(this.#folder);
  }

  static async connect(stage: Stage, file: string): Promise<Project> {
    const { client, service } = stage;
    const git = makeRepository(service.folder, { ".millrace.yml": file });
    const repository = await connectRepository(client, git);
    const pipeline = await client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci" });
    const project = new Project(stage, git, repository, pipeline);
    stage.projects.push(project);
    await client.call("POST", "/secrets/variables", {
      ...{ key: "HERE", value: project.#folder, isSecret: false, scope: "repository", repoId: repository.id },
    });
    return project;
  }

  /** Commits a new pipeline file on a branch. Creates the branch if it does not exist. @returns the commit */
  commit(branch: string, file: string): string {
    const { git, work } = this.git;
    git("checkout", "--quiet", "-B", branch);
    writeFileSync(join(work, ".millrace.yml"), file);
    git("commit", "--quiet", "--all", "--message", "Change the file");
    return git("rev-parse", "HEAD");
  }

  /** Commits a file beside the pipeline's. */
  add(path: string, text: string): void {
    const { git, work } = this.git;
    mkdirSync(dirname(join(work, path)), { recursive: true });
    writeFileSync(join(work, path), text);
    git("add", "--all");
    git("commit", "--quiet", "--message", "Add a file");
  }

  /** Creates a mark that steps wait for. */
  mark(name: string): void {
    writeFileSync(join(this.#folder, name), "");
  }

  /** Returns the lines that steps wrote to this file so far, without the empty one at its end. */
  lines(name: string): string[] {
    const text = readFileSync(join(this.#folder, name), { encoding: "utf8", flag: "a+" });
    return text.split("\n").slice(0, -1);
  }

  async trigger(more: object = {}): Promise<Run> {
    const body = { pipelineId: this.pipeline.id, branch: "main", ...more };
    return this.run((await this.#stage.client.call<Build>("POST", "/build", body)).id);
  }

  run(id: string): Run {
    return new Run(this.#stage, id);
  }
}

/** One build with several jobs. */
export class Run {
  readonly #stage: Stage;
  readonly id: string;

  constructor(stage: Stage, id: string) {
    this.#stage = stage;
    this.id = id;
  }

  get(): Promise<Build> {
    return this.#stage.client.call("GET", `/build/${this.id}`);
  }

  async job(key: string): Promise<JobOfBuild> {
    const job = (await this.get()).jobs?.find((one) => one.key === key);
    if (!job) throw new Error(`no job ${key}`);
    return job;
  }

  async logOf(key: string): Promise<string> {
    const { url, token } = this.#stage.client;
    const { id } = await this.job(key);
    return (await fetch(`${url}/job/${id}/log`, { headers: { Authorization: `Bearer ${token}` } })).text();
  }

  /** Waits until jobs have this status. */
  async see(statuses: Record<string, JobOfBuild["status"]>): Promise<void> {
    await soon(async () => {
      const { jobs, message } = await this.get();
      const now = (jobs ?? []).filter(({ key }) => key in statuses).map(({ key, status }) => [key, status]);
      expect(Object.fromEntries(now), message ?? "").toEqual(statuses);
    });
  }

  /** Waits until a gate waits for a decision. @returns its job's id */
  gate(key: string): Promise<string> {
    return soon(async () => {
      const { waitsFor, message } = await this.get();
      const asking = waitsFor.find((one) => one.key === key);
      if (!asking) throw new Error(`no gate of ${key} asks: ${message}`);
      return asking.jobId;
    });
  }

  /** Waits until the build has ended. @returns it with its jobs by their keys */
  end(): Promise<Build & { by: Record<string, JobOfBuild> }> {
    return soon(async () => {
      const build = await this.get();
      if (!isEnded(build.status)) throw new Error(`still ${build.status}: ${JSON.stringify(statusesOf(build))}`);
      return { ...build, by: Object.fromEntries((build.jobs ?? []).map((job) => [job.key, job])) };
    });
  }

  /**
   * Waits for the build's end.
   * @returns the build with its log
   * @throws with the printed output if the build does not end
   */
  async endWithLog(): Promise<{ build: Build; log: string }> {
    const { service, web } = this.#stage;
    const build = await this.end().catch((error) => {
      throw new Error(`${error.message}\n${web.printed()}\n${service.printed()}`);
    });
    const { url, token } = this.#stage.client;
    const answer = await fetch(`${url}/build/${this.id}/log`, { headers: { Authorization: `Bearer ${token}` } });
    return { build, log: await answer.text() };
  }

  act(verb: string, body?: object): Promise<Build> {
    return this.#stage.client.call("POST", `/build/${this.id}/${verb}`, body);
  }
}

/** Returns each job's status by its key. */
export const statusesOf = ({ jobs }: Pick<Build, "jobs">): Record<string, string> =>
  Object.fromEntries((jobs ?? []).map(({ key, status }) => [key, status]));
