import { calling } from "../../src/domain/durable-objects.ts";
import { expand } from "../../src/pipeline/graph/expand.ts";
import type { JobGraph } from "../../src/pipeline/graph/graph.ts";
import { parsePlan } from "../../src/pipeline/parse/parse.ts";
import type { NewAgent, NewBuild } from "../../src/queue/commands/commands.ts";
import worker, { BuildLog, GitHost, AgentPool as Pool } from "../../src/worker.ts";
import { DEFAULT_BUILD } from "../support/default-build.ts";

/**
 * The Worker with a pool that fills itself. `/fill?agents=` creates a few agents by commands, each with a running build
 * and two waiting ones, and copies their rows. `/plan?builds=` queues so many builds with 256 jobs. `/wake` wakes the
 * pool, and `/load` returns its contents.
 */

const ORGANIZATION = "heap";
const LABELS = 50;
/** Number of agents that commands create. */
const TEMPLATES = 10;
const BUILDS_OF_AN_AGENT = 3;

const idOf = (kind: number, n: number): string => `0190${kind}000-0000-7000-8000-${String(n).padStart(12, "0")}`;
const tokenHashOf = (n: number): string => n.toString(16).padStart(64, "0");

const agentOf = (n: number): NewAgent => ({
  ...{ id: idOf(1, n), orgId: ORGANIZATION, name: `mill-${n}`, platform: 2, version: "0.4.0" },
  ...{ canBuildIOS: false, canBuildAndroid: true, canBuildWeb: true },
  labels: Array.from({ length: LABELS }, (_, label) => `label-${label}=value-${n % 10}`),
  tokenHash: tokenHashOf(n),
  actor: { actor: "token:t", requestId: "r" },
});

const buildOf = (n: number): NewBuild => ({
  ...DEFAULT_BUILD,
  ...{ id: idOf(2, n), orgId: ORGANIZATION, repoId: idOf(3, n % 100), pipelineId: idOf(4, n % 300) },
  commitSha: n.toString(16).padStart(40, "0"),
  requires: { labels: ["label-7=value-3"] },
});

const AXIS = Array.from({ length: 16 }, (_, value) => `value-${value}`).join(", ");
const FILE = `jobs:\n  test:\n    matrix: { one: [${AXIS}], other: [${AXIS}] }\n    steps: [{ run: make test }]\n`;

const graphOf = (n: number): JobGraph => {
  const { plan } = parsePlan(FILE);
  const options = { hash: "", path: null, commitSha: buildOf(n).commitSha, requires: {}, timeoutSeconds: 3600 };
  const facts = { build: {}, repository: {}, vars: {}, changed: {} };
  const { graph } = plan ? expand(plan, { ...options, facts, newId: () => crypto.randomUUID() }) : {};
  if (!graph) throw new Error("The file cannot be planned");
  return graph;
};

export class AgentPool extends Pool {
  async queueJobs(builds: number): Promise<void> {
    for (let n = 0; n < builds; n++) {
      const planned = { graph: graphOf(n), text: FILE, adopted: {} };
      const { ok } = await this.enqueue({ ...buildOf(n), planned });
      if (!ok) throw new Error("The queue is full");
    }
    await this.ctx.storage.deleteAlarm();
  }

  async fill(agents: number): Promise<void> {
    const numbers = Array.from({ length: TEMPLATES }, (_, n) => n);
    const builds = Array.from({ length: TEMPLATES * BUILDS_OF_AN_AGENT }, (_, n) => n);
    await Promise.all(numbers.map((n) => this.registerAgent(agentOf(n))));
    await Promise.all(builds.map((n) => this.enqueue(buildOf(n))));
    for (const n of numbers) await this.#takeBuild(idOf(1, n), tokenHashOf(n));
    this.ctx.storage.transactionSync(() => {
      for (let first = TEMPLATES; first < agents; first += TEMPLATES) this.#copy(first);
    });
    // Nothing may wake the pool before the drill does.
    await this.ctx.storage.deleteAlarm();
  }

  /** Copies the templates' rows as agents from `first` on. */
  #copy(first: number): void {
    const { sql } = this.ctx.storage;
    const renumbered = (text: string): string =>
      text
        .replace(/01901000-0000-7000-8000-(\d{12})/g, (_, n) => idOf(1, Number(n) + first))
        .replace(/01902000-0000-7000-8000-(\d{12})/g, (_, n) => idOf(2, Number(n) + BUILDS_OF_AN_AGENT * first))
        .replace(/\b0{48}([0-9a-f]{16})\b/g, (_, hash) => tokenHashOf(Number.parseInt(hash, 16) + first));
    const last = idOf(1, TEMPLATES - 1);
    for (const { id, facts } of sql
      .exec<{ id: string; facts: string }>("SELECT * FROM agent WHERE id <= ?", last)
      .toArray())
      sql.exec("INSERT INTO agent VALUES (?, ?)", renumbered(id), renumbered(facts));
    const templates = sql.exec<{ seq: number; id: string; facts: string }>(
      "SELECT seq, id, facts FROM build WHERE id <= ?",
      idOf(2, TEMPLATES * BUILDS_OF_AN_AGENT - 1),
    );
    for (const { seq, id, facts } of templates.toArray())
      sql.exec(
        "INSERT INTO build (seq, id, ended_at, facts) VALUES (?, ?, NULL, ?)",
        ...[seq + BUILDS_OF_AN_AGENT * first, renumbered(id), renumbered(facts)],
      );
  }

  async #takeBuild(agentId: string, tokenHash: string): Promise<void> {
    const claimed = await this.claim({ agentId, tokenHash, bootId: "boot" });
    if (!claimed.ok || !claimed.value) return;
    const { jobId, fence } = claimed.value;
    await this.deliver({ jobId, fence, agentId, environment: [] });
    await this.start({ jobId, fence, agentId, tokenHash });
  }

  async loaded(): Promise<{ agents: number; builds: number; jobs: number }> {
    const { sql } = this.ctx.storage;
    const { jobs } = sql.exec<{ jobs: number }>("SELECT count(*) AS jobs FROM build_job").one();
    return { agents: (await this.listAgents()).length, builds: (await this.liveBuilds()).length, jobs };
  }
}

export { BuildLog, GitHost };

export default {
  ...worker,
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    const pool = calling((env.AGENT_POOL as unknown as DurableObjectNamespace<AgentPool>).getByName(ORGANIZATION));
    if (pathname === "/fill") {
      await pool.fill(Number(searchParams.get("agents")));
      return Response.json({});
    }
    if (pathname === "/plan") {
      await pool.queueJobs(Number(searchParams.get("builds")));
      return Response.json({});
    }
    if (pathname === "/wake") {
      await pool.touch();
      return Response.json({});
    }
    return pathname === "/load" ? Response.json(await pool.loaded()) : worker.fetch(request, env, ctx);
  },
} satisfies ExportedHandler<Env>;
