import { globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Client } from "../../../src/local/client.ts";
import { waitForEnd } from "../../../src/local/demo.ts";
import type { Build } from "../../../src/protocol/build.ts";
import { isEnded } from "../../../src/protocol/build-states.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import { deliver } from "../../e2e/dashboard/git-host.ts";
import { writeEndedBuild } from "../../support/ended-builds.ts";
import { newPull, newPush } from "../../support/host-events.ts";
import { type RunningAgent, startAgent } from "../../support/local/agent.ts";
import { connectRepository, type GitRepository, makeRepository } from "../../support/local/git-repository.ts";
import type { LocalService } from "../../support/local/service.ts";
import { APP, SHOP } from "./files.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const SUBJECTS = [
  "cart: round once, not per line",
  "deps: bump hono",
  "checkout: keep the voucher",
  "docs: say it shorter",
];
const PEOPLE = ["Ada", "Grace", "Edsger", "Barbara"];

interface Connected {
  git: GitRepository;
  repository: Repository;
  pipeline: Pipeline;
  push(branch: string, message: string, files?: Record<string, string>): Promise<Build>;
  fork(number: number, title: string): Promise<Build>;
}

/** An organization with something to see on every page, and its pages' addresses by name. */
export class PicturedOrganization {
  readonly client: Client;
  readonly pages: Record<string, string> = {};
  readonly agents: RunningAgent[] = [];
  readonly #service: LocalService;
  readonly #go: string;

  constructor(service: LocalService, client: Client) {
    this.#service = service;
    this.client = client;
    this.#go = join(service.folder, "go");
  }

  async fill(): Promise<void> {
    const { client, pages } = this;
    await this.#addAgents();
    const hostId = (
      await client.call<{ id: string }>("POST", "/connection", {
        ...{ kind: "github", name: "GitHub", webUrl: "https://github.com" },
      })
    ).id;
    const shop = await this.#connect(hostId, "acme/shop", SHOP(this.#go));
    const app = await this.#connect(hostId, "acme/app", APP, { platform: "macos", ios: true, labels: ["xcode-26"] });
    await this.#addValues(shop);
    await this.#addHistory([shop, app]);
    const green = await shop.push("main", "deps: bump hono");
    await waitForEnd(client, green.id);
    const failed = await shop.push("feature/cart", "cart: round once, not per line", { "broken.txt": "yes\n" });
    await waitForEnd(client, failed.id);
    const gated = await shop.push("release", "Release 2.4");
    await this.#sees(gated.id, ({ waitsFor }) => waitsFor.length > 0);
    const held = await shop.fork(118, "Fix a typo in the cart");
    const approved = await shop.fork(119, "Say thanks in the readme");
    await client.call("POST", `/build/${approved.id}/approve`, { comment: "read every line" });
    const waiting = await app.push("main", "ios: drop the old camera");
    const running = await shop.push("slow", "search: index twice a day");
    await this.#sees(running.id, ({ jobs }) => jobs?.some(({ status }) => status === "running") ?? false);
    await this.#service.runUpkeep();
    await this.#namePages({ shop, hostId, failed, gated, held, approved, waiting, running, green });
    Object.assign(pages, { "sign-in": "/app/sign-in" });
  }

  async stop(): Promise<void> {
    writeFileSync(this.#go, "");
    await Promise.all(this.agents.map((agent) => agent.stop()));
  }

  async #addAgents(): Promise<void> {
    const { client } = this;
    const skills = { canBuildIOS: false, canBuildAndroid: true, canBuildWeb: true };
    for (const [index, name] of ["mac-mini-1", "mac-mini-2", "mac-studio", "linux-arm-1", "linux-arm-2"].entries())
      await client.call("POST", "/buildagent/register", {
        ...{
          ...skills,
          name,
          platform: index < 3 ? 1 : 2,
          canBuildIOS: index < 3,
          labels: index < 2 ? ["xcode-16"] : [],
        },
      });
    for (const name of ["linux-1", "linux-2", "linux-3"])
      this.agents.push(await startAgent(client, this.#service.folder, name));
  }

  async #connect(connectionId: string, fullName: string, file: string, requires: object = {}): Promise<Connected> {
    const { client } = this;
    const git = makeRepository(this.#service.folder, { ".millrace.yml": file });
    const made = await connectRepository(client, git);
    const settings = { fullName, connectionId, forks: "approval" };
    const repository = await client.call<Repository>("PUT", `/repository/${made.id}`, settings);
    const pipeline = await client.call<Pipeline>("POST", "/pipeline", {
      ...{
        repoId: repository.id,
        name: fullName.endsWith("app") ? "ios" : "ci",
        requires,
        on: { push: true, pull: {} },
      },
    });
    const hook = await client.call<{ url: string; secret: string }>("GET", `/connection/${connectionId}/hook`);
    const facts = { id: repository.gitHostRepoId as number, fullName };
    const tell = async (event: string, told: object): Promise<Build> => {
      const { builds, ignored } = await deliver(hook, "github", event, told);
      if (builds[0] === undefined) throw new Error(`A ${event} created no build: ${ignored}`);
      return client.call<Build>("GET", `/build/${builds[0]}`);
    };
    const commit = (message: string, files: Record<string, string> = {}): string => {
      for (const [path, text] of Object.entries(files)) writeFileSync(join(git.work, path), text);
      git.git("add", "--all");
      git.git("commit", "--quiet", "--allow-empty", "--message", message);
      return git.git("rev-parse", "HEAD");
    };
    return {
      git,
      repository,
      pipeline,
      push: async (branch, message, files) => {
        const before = git.git("rev-parse", "main");
        git.git("checkout", "--quiet", "-B", branch, "main");
        const sha = commit(message, files);
        return tell("push", newPush(sha, { ...facts, ref: `refs/heads/${branch}`, before, message }));
      },
      fork: async (number, title) => {
        git.git("checkout", "--quiet", "-B", `gift-${number}`, "main");
        const sha = commit(title);
        git.git("update-ref", `refs/pull/${number}/head`, sha);
        const told = { ...facts, number, forkOf: 9, title, author: "newcomer", sender: "newcomer" };
        return tell("pull_request", newPull("opened", sha, told));
      },
    };
  }

  async #addValues({ repository, pipeline }: Connected): Promise<void> {
    const { client } = this;
    const group = await client.call<{ id: string }>("POST", "/secrets/groups", { name: "release", protection: {} });
    const owners = {
      organization: { scope: "organization", orgId: "acme" },
      repository: { scope: "repository", repoId: repository.id },
      pipeline: { scope: "pipeline", pipelineId: pipeline.id },
      group: { scope: "group", orgId: "acme", groupId: group.id },
    };
    const values: [keyof typeof owners, string, string, boolean][] = [
      ["organization", "REGION", "eu-north", false],
      ["organization", "NPM_TOKEN", "npm_0123456789abcdef", true],
      ["repository", "API_URL", "https://api.shop.example", false],
      ["repository", "STRIPE_KEY", "sk_test_0123456789", true],
      ["pipeline", "REGION", "eu-west", false],
      ["group", "UPLOAD_KEY", "upload-0123456789", true],
    ];
    for (const [owner, key, value, isSecret] of values)
      await client.call("POST", "/secrets/variables", { ...owners[owner], key, value, isSecret });
    await client.call("POST", "/token", { name: "deploy script", kind: "api", role: "member" });
    await client.call("POST", "/schedule", { pipelineId: pipeline.id, name: "nightly", cron: "0 2 * * *" });
    Object.assign(this.pages, { group: `/app/groups/${group.id}` });
  }

  /** Adds rows to D1 for builds that ended in the last days. */
  async #addHistory(connected: Connected[]): Promise<void> {
    const [file] = globSync(join(this.#service.stateFolder, "v3/d1/**/*.sqlite")).filter(
      (one) => !/metadata/.test(one),
    );
    const database = new DatabaseSync(file ?? "");
    const db = {
      prepare: (text: string) => ({
        bind: (...values: (string | number | null)[]) => ({ run: async () => database.prepare(text).run(...values) }),
      }),
    } as unknown as D1Database;
    for (const [at, { repository, pipeline }] of connected.entries())
      for (let n = 0; n < 34; n++)
        await writeEndedBuild(db, {
          ...{ orgId: "acme", repoId: repository.id, pipelineId: pipeline.id, number: 34 - n },
          ...{ at: Date.now() - n * 9 * HOUR_MS - 17 * MINUTE_MS, waitedMs: 3_000 + ((n * 7) % 11) * 2_000 },
          tookMs: (150 + at * 700 + ((n * 37 + at * 11) % 90)) * 1000,
          status: (n + 4 * at) % 9 === 4 ? "failed" : "succeeded",
          ...(n % 8 === 5 ? { flaky: 1 } : {}),
          ...{ subject: SUBJECTS[n % 4] ?? "", author: PEOPLE[(n + at) % 4] ?? "" },
        });
    database.close();
  }

  async #sees(id: string, isSo: (build: Build) => boolean): Promise<void> {
    for (;;) {
      const build = await this.client.call<Build>("GET", `/build/${id}`);
      if (isSo(build)) return;
      if (isEnded(build.status)) throw new Error(`Build ${build.number} is ${build.status}: ${build.message}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  async #namePages(
    made: Record<"failed" | "gated" | "held" | "approved" | "waiting" | "running" | "green", Build> & {
      shop: Connected;
      hostId: string;
    },
  ) {
    const { client, pages } = this;
    const { shop, hostId, failed } = made;
    const build = (id: string) => `/app/builds/${id}`;
    const whole = await client.call<Build>("GET", `/build/${failed.id}`);
    const job = whole.jobs?.find(({ status }) => status === "failed");
    const [variable] = await client.call<{ id: string }[]>("GET", "/secrets/variables");
    const [agent] = await client.call<{ id: string }[]>("GET", "/buildagent");
    const { id: repoId } = shop.repository;
    Object.assign(pages, {
      ...{
        overview: "/app",
        builds: "/app/builds",
        "builds-all": "/app/builds?view=all",
        "run-build": "/app/builds/new",
      },
      "build-failed": build(failed.id),
      "build-artifacts": `${build(made.green.id)}?tab=artifacts`,
      "build-gate": build(made.gated.id),
      "build-held": build(made.held.id),
      "build-approved": build(made.approved.id),
      "build-waiting": build(made.waiting.id),
      "build-running": build(made.running.id),
      "build-green": build(made.green.id),
      compare: `${build(failed.id)}/compare`,
      job: `/app/jobs/${job?.id}`,
      "job-tests": `/app/jobs/${job?.id}?tab=tests`,
      "job-environment": `/app/jobs/${job?.id}?tab=environment`,
      ...{ agents: "/app/agents", "add-agent": "/app/agents/new", agent: `/app/agents/${agent?.id}` },
      ...{ repositories: "/app/repositories", repository: `/app/repositories/${repoId}` },
      ...{ cache: `/app/repositories/${repoId}/cache`, flaky: `/app/repositories/${repoId}/flaky` },
      ...{ pipeline: `/app/pipelines/${shop.pipeline.id}`, triggers: `/app/pipelines/${shop.pipeline.id}/triggers` },
      ...{ "revoke-badge": `/app/pipelines/${shop.pipeline.id}/badge/revoke`, schedules: "/app/schedules" },
      ...{ variables: "/app/variables", variable: `/app/variables/${variable?.id}`, groups: "/app/groups" },
      ...{ tokens: "/app/tokens", audit: "/app/audit", connections: "/app/connections" },
      ...{ connection: `/app/connections/${hostId}`, deliveries: `/app/connections/${hostId}/deliveries` },
      "make-app": `/app/connections/${hostId}/app`,
      "first-hour": "/app/first-hour",
      problem: "/app/builds/01900000-0000-7000-8000-000000000000",
    });
  }
}
