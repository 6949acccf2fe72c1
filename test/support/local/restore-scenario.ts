import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../../src/local/client.ts";
import { waitForEnd } from "../../../src/local/demo.ts";
import type { Build } from "../../../src/protocol/build.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import type { TestReport } from "../../../src/protocol/test-report.ts";
import { type RunningAgent, startAgent } from "./agent.ts";
import { connectRepository, makeRepository } from "./git-repository.ts";
import { type LocalService, startLocalService } from "./service.ts";

export const SIDES = ["database", "pool", "both"] as const;
export type Side = (typeof SIDES)[number];

/** Folders of `wrangler dev` below `v3` that a restore of this side replaces. */
const FOLDERS: Record<Side, string[]> = {
  database: ["d1"],
  pool: ["do/millrace-AgentPool"],
  both: ["d1", "do/millrace-AgentPool"],
};

const VARS = { LEASE_SECONDS: "15", HEARTBEAT_SECONDS: "1", POLL_SECONDS: "2" };
/** Waits for a file, counts how often it ran, and creates an artifact, a report and a cache entry. */
const FILE = `steps:
  - run: |
      echo run >> "$RUNS"; while [ ! -e "$GO" ]; do sleep 0.05; done
      cat cached 2> /dev/null && echo "the cache was there"
      echo "$RUNS" > left; echo once > cached; echo '<testsuite><testcase name="one"/></testsuite>' > junit.xml
artifacts: [{ name: left, path: left }]
reports: { junit: junit.xml }
cache: [{ name: cached, key: one, path: cached }]
`;

/** A promise that must hold after a restore, with its result. */
export interface Finding {
  what: string;
  isRight: boolean;
  found: unknown;
}

/** Runs a service with active builds, restores older files of one side, and checks every promise. */
export class RestoreScenario {
  readonly side: Side;
  readonly findings: Finding[] = [];
  readonly #print: (line: string) => void;
  #service!: LocalService;
  #client!: Client;
  #agent!: RunningAgent;
  #pipelineId = "";

  constructor(side: Side, print: (line: string) => void) {
    this.side = side;
    this.#print = print;
  }

  async run(): Promise<void> {
    this.#service = await startLocalService(VARS);
    try {
      await this.#act();
    } finally {
      for (const name of ["across", "live"]) this.#release(name);
      await this.#agent?.stop();
      await this.#service.remove();
    }
  }

  async #act(): Promise<void> {
    const service = this.#service;
    this.#client = await service.newOrganization("acme");
    const repository = await connectRepository(this.#client, makeRepository(service.folder, { ".millrace.yml": FILE }));
    const pipeline = await this.#client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci" });
    this.#pipelineId = pipeline.id;
    this.#agent = await startAgent(this.#client, service.folder, "mill");
    const removed = await this.#client.call<{ id: string; token: string }>("POST", "/buildagent/register", {
      ...{ name: "removed", platform: 1, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: false },
    });
    const revoked = await this.#client.call<{ id: string; token: string }>("POST", "/token", {
      ...{ name: "revoked", kind: "api", role: "admin" },
    });
    const before = await this.#finished("before");
    const across = await this.#running("across");

    this.#print("-- the restore point");
    await service.stop();
    const kept = this.#keep();
    await service.restart();
    this.#release("across");
    await waitForEnd(this.#client, across.id);
    const after = await this.#finished("after");
    await this.#client.call("DELETE", `/token/${revoked.id}`);
    await this.#client.call("DELETE", `/buildagent/${removed.id}`);
    const live = await this.#running("live");
    await this.#settled();

    this.#print(`-- restoring the older files of: ${this.side}`);
    await service.stop();
    this.#putBack(kept);
    await service.restart();
    await this.#tellService();
    this.#release("live");
    await this.#look({ before, across, after, live, revoked: revoked.token, removed });
  }

  async #tellService(): Promise<void> {
    const sides = this.side === "both" ? ["database", "pools"] : [this.side === "pool" ? "pools" : "database"];
    for (const what of sides) {
      this.#print(
        `$ curl -s -X POST -H "Authorization: Bearer $OPERATOR" -H 'Content-Type: application/json' -d '{"what":"${what}"}' "$URL/operator/restored"`,
      );
      this.#print(JSON.stringify(await this.#service.operator.call("POST", "/operator/restored", { what })));
    }
  }

  async #look(
    known: Record<"before" | "across" | "after" | "live", Build> & {
      revoked: string;
      removed: { id: string; token: string };
    },
  ) {
    const isForgotten = this.side === "both";
    const { before, across, after, live } = known;
    const status = (token: string) => this.#statusOf("GET", "/token/self", token);
    if (!isForgotten) {
      await this.#eventually("a revoked token stays revoked", () => status(known.revoked), 401);
      const poll = () => this.#statusOf("GET", `/buildagent/${known.removed.id}`, known.removed.token);
      await this.#eventually("a removed agent stays removed", poll, 401);
    }
    const next = await this.#finished("next");
    const stateOf = async ({ id }: Build) => (await this.#get(id))?.status ?? "unknown";
    await this.#eventually("a build that ended before the copy is unchanged", () => stateOf(before), "succeeded");
    await this.#eventually("a build that ended after the copy has ended", () => stateOf(across), "succeeded");
    const lost = { database: "succeeded", pool: "failed", both: "unknown" }[this.side];
    await this.#eventually("an active build ends, or is lost with both", () => stateOf(live), lost);
    await this.#eventually(
      "a build that began and ended after the copy is known",
      () => stateOf(after),
      isForgotten ? "unknown" : "succeeded",
    );
    this.#find("an ended build runs once", this.#runs("across"), isForgotten ? 2 : 1);
    this.#find("no number is used twice", next.number, isForgotten ? 3 : 5);
    const isUnderWay = ({ status: of }: Build) => !["succeeded", "failed", "canceled"].includes(of);
    const listed = async () => (await this.#client.call<Build[]>("GET", "/build")).filter(isUnderWay).length;
    await this.#eventually("no list shows an ended build as active", listed, 0);
    const ids = async () => (await this.#client.call<Build[]>("GET", "/build")).length;
    await this.#eventually("the list has every build once", ids, isForgotten ? 3 : 5);
    await this.#lookAtWhatIsLeft({ before, across, after }, next);
  }

  /** Artifacts, reports and caches are in the archive, which no restore changes. */
  async #lookAtWhatIsLeft(known: Record<"before" | "across" | "after", Build>, next: Build): Promise<void> {
    const isForgotten = this.side === "both";
    for (const [name, { id }] of Object.entries(known)) {
      if (name === "after" && isForgotten) continue;
      const left = async () => {
        const { url, token } = this.#client;
        const headers = { Authorization: `Bearer ${token}` };
        const answer = await fetch(`${url}/job/${id}/artifact/left/content/left`, { headers });
        return answer.ok ? (await answer.text()).trim() : answer.status;
      };
      await this.#eventually(`the artifact of ${name} is there`, left, this.#path(`runs-${name}`));
      const tests = async () =>
        (await this.#client.call<TestReport[]>("GET", `/build/${id}/tests`)).map(({ counts }) => counts.total).join();
      await this.#eventually(`the tests of ${name} are known`, tests, "1");
    }
    const { url, token } = this.#client;
    const log = await fetch(`${url}/build/${next.id}/log`, { headers: { Authorization: `Bearer ${token}` } });
    this.#find("the next build finds the cache", (await log.text()).includes("\nthe cache was there\n"), true);
  }

  #find(what: string, found: unknown, wanted: unknown): void {
    const isRight = found === wanted;
    this.findings.push({ what, isRight, found });
    this.#print(`${isRight ? "ok  " : "NOT "}${what}: ${found}`);
  }

  /** Waits until the condition holds, at most 40 s. */
  async #eventually(what: string, look: () => Promise<unknown>, wanted: unknown): Promise<void> {
    const until = Date.now() + 40_000;
    let found = await look();
    while (found !== wanted && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      found = await look();
    }
    this.#find(what, found, wanted);
  }

  #path(name: string): string {
    return join(this.#service.folder, name);
  }

  #release(name: string): void {
    writeFileSync(this.#path(`go-${name}`), "");
  }

  #runs(name: string): number {
    const path = this.#path(`runs-${name}`);
    return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").length : 0;
  }

  async #trigger(name: string): Promise<Build> {
    const envVariables = { GO: this.#path(`go-${name}`), RUNS: this.#path(`runs-${name}`) };
    return this.#client.call("POST", "/build", { pipelineId: this.#pipelineId, branch: "main", envVariables });
  }

  async #running(name: string): Promise<Build> {
    const build = await this.#trigger(name);
    while ((await this.#get(build.id))?.status !== "running") await new Promise((resolve) => setTimeout(resolve, 100));
    return build;
  }

  async #finished(name: string): Promise<Build> {
    this.#release(name);
    return waitForEnd(this.#client, (await this.#trigger(name)).id);
  }

  #get(id: string): Promise<Build | null> {
    return this.#client.call<Build>("GET", `/build/${id}`).catch(() => null);
  }

  async #statusOf(method: string, path: string, token: string): Promise<number> {
    return (await fetch(this.#client.url + path, { method, headers: { Authorization: `Bearer ${token}` } })).status;
  }

  /** Waits until the pool's outbox is empty. */
  async #settled(): Promise<void> {
    const outbox = async () =>
      (await this.#client.call<{ outbox: { builds: number } }>("GET", "/buildagent/metrics")).outbox.builds;
    while ((await outbox()) > 0) await new Promise((resolve) => setTimeout(resolve, 200));
  }

  #keep(): string {
    const folder = mkdtempSync(join(this.#service.folder, "older-"));
    for (const name of FOLDERS[this.side]) cpSync(this.#stored(name), join(folder, name), { recursive: true });
    return folder;
  }

  #putBack(kept: string): void {
    for (const name of FOLDERS[this.side]) {
      rmSync(this.#stored(name), { recursive: true });
      cpSync(join(kept, name), this.#stored(name), { recursive: true });
    }
  }

  /** @throws if `wrangler dev` stores its files elsewhere */
  #stored(name: string): string {
    const [version = ""] = readdirSync(this.#service.stateFolder);
    return join(this.#service.stateFolder, version, name);
  }
}
