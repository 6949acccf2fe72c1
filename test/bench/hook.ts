import { createHmac, randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Connection } from "../../src/protocol/connection.ts";
import type { Repository } from "../../src/protocol/repository.ts";
import { type ServedWorker, serveBundled } from "../support/served-worker.ts";
import { withStorageIn } from "../support/storage-in.ts";
import { serveFloor } from "./support/floor.ts";
import { KeepAliveClient } from "./support/keep-alive.ts";
import { workerdProcesses } from "./support/process-usage.ts";
import { median, ms, quantile } from "./support/statistics.ts";

const ROUNDS = 5;
const DELIVERIES = 100;
const SMALL = 30_000;
const LARGE = 25_000_000;
const GOAL = 2;
/** Keeps the work after an answer, such as the build's write to D1, out of the next delivery's measurement. */
const PAUSE_MS = 20;

interface Hook {
  path: string;
  secret: string;
}

const sha = (): string => randomUUID().replaceAll("-", "").padEnd(40, "0");

/** Returns a push of one commit to the default branch, padded to so many bytes with its list of commits. */
const pushOf = (bytes: number): string => {
  const after = sha();
  const commit = { id: after, message: "Mend it", author: { name: "Ann" }, added: [], removed: [], modified: ["a.ts"] };
  const body = {
    ...{ ref: "refs/heads/main", before: sha(), after, forced: false, head_commit: commit, commits: [commit] },
    ...{ repository: { id: 1, full_name: "acme/app", default_branch: "main" }, sender: { login: "ann" } },
  };
  const line = JSON.stringify({ ...commit, message: "x".repeat(600) });
  const missing = bytes - JSON.stringify(body).length;
  const more = Array.from({ length: Math.max(0, Math.floor(missing / (line.length + 1))) }, () => JSON.parse(line));
  return JSON.stringify({ ...body, commits: [commit, ...more] });
};

const headersOf = ({ secret }: Hook, body: string): Record<string, string> => ({
  "Content-Type": "application/json",
  "X-GitHub-Event": "push",
  "X-GitHub-Delivery": randomUUID(),
  "X-Hub-Signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
});

/** Returns each delivery's milliseconds, one after the other. */
export const deliver = async (
  http: KeepAliveClient,
  hook: Hook,
  more: Record<string, string>,
  bytes: number,
  count: number,
) => {
  const bodies = Array.from({ length: count }, () => pushOf(bytes));
  const times: number[] = [];
  for (const body of bodies) {
    const headers = { ...headersOf(hook, body), ...more };
    const begun = performance.now();
    const { status, text } = await http.send("POST", hook.path, { headers, body });
    times.push(performance.now() - begun);
    if (status !== 202) throw new Error(`${status} ${text}`);
    await delay(PAUSE_MS);
  }
  return times;
};

/** Returns a process's highest resident bytes while `work` runs, above those before. Only Linux has this figure. */
const peakOf = async (id: number, work: () => Promise<unknown>): Promise<number> => {
  const field = (name: string): number =>
    1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1]);
  writeFileSync(`/proc/${id}/clear_refs`, "5");
  const before = field("VmRSS");
  await work();
  return field("VmHWM") - before;
};

export const connectHook = async (service: ServedWorker): Promise<{ hook: Hook; connection: Connection }> => {
  const client = await service.newOrganization("bench");
  const host = { kind: "github", name: "GitHub", webUrl: "https://github.com" };
  const connection = await client.call<Connection>("POST", "/connection", host);
  const { id: repoId } = await client.call<Repository>("POST", "/repository", {
    ...{ gitHostRepoId: 1, fullName: "acme/app", cloneUrl: "https://github.com/acme/app.git" },
    connectionId: connection.id,
  });
  await client.call("POST", "/pipeline", { repoId, name: "ci", definition: "steps:\n  - run: make\n" });
  const { url, secret } = await client.call<Hook & { url: string }>("GET", `/connection/${connection.id}/hook`);
  return { hook: { path: new URL(url).pathname, secret }, connection };
};

/** Copies the tables that a delivery reads, with their rows. */
export const copyTables = async (from: D1Database, to: D1Database): Promise<void> => {
  for (const table of ["connection", "repository", "credential", "pipeline", "open_pull"]) {
    const named = "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL";
    const schema = await from.prepare(named).bind(table).all<{ sql: string }>();
    for (const { sql } of schema.results) await to.prepare(sql).run();
    const { results } = await from.prepare(`SELECT * FROM ${table}`).all<object>();
    for (const row of results) {
      const names = Object.keys(row);
      const statement = `INSERT INTO ${table} ("${names.join('", "')}") VALUES (${names.map(() => "?").join(", ")})`;
      await to
        .prepare(statement)
        .bind(...Object.values(row))
        .run();
    }
  }
};

/** Measures forged deliveries per second, and checks that the service stored none of them. */
const forge = async (service: ServedWorker, http: KeepAliveClient, { path }: Hook): Promise<void> => {
  const body = pushOf(SMALL);
  const headers = { ...headersOf({ path, secret: "a stranger's" }, body) };
  const rows = () => service.db.prepare("SELECT count(*) AS n FROM build_summary").first<number>("n");
  const before = await rows();
  const begun = performance.now();
  for (let n = 0; n < 5000; n++) {
    const { status } = await http.send("POST", path, { headers, body });
    if (status !== 401) throw new Error(`A forged delivery got status ${status}`);
  }
  const took = performance.now() - begun;
  console.log(`5,000 forged deliveries of 30 KB: ${ms(took / 5000)} each, ${(await rows())! - before!} builds`);
};

/** Measures git hosts' deliveries. The bare Worker checks the same signature, runs the same queries, stores one row. */
export const benchHook = async (): Promise<void> => {
  const service = await withStorageIn("memory", () => serveBundled());
  const [own = 0] = workerdProcesses();
  const floor = await withStorageIn("memory", () => serveFloor("hook-floor-worker.ts"));
  const bare = workerdProcesses().find((id) => id !== own) ?? 0;
  const { hook, connection } = await connectHook(service);
  await copyTables(service.db, floor.db);
  const [http, under] = [new KeepAliveClient(service.url), new KeepAliveClient(floor.url)];
  const more = { Secret: hook.secret, Organization: "bench", Connection: connection.id };

  await deliver(http, hook, {}, SMALL, 50);
  await deliver(under, hook, more, SMALL, 50);
  const rounds: { floor: number[]; own: number[] }[] = [];
  for (let n = 0; n < ROUNDS; n++) {
    rounds.push({
      floor: await deliver(under, hook, more, SMALL, DELIVERIES),
      own: await deliver(http, hook, {}, SMALL, DELIVERIES),
    });
  }
  for (const share of [0.5, 0.99]) {
    const [ours, theirs] = (["own", "floor"] as const).map((who) =>
      median(rounds.map((one) => quantile(one[who], share))),
    );
    const ratio = median(rounds.map((one) => quantile(one.own, share) / quantile(one.floor, share)));
    console.log(
      `a push of 30 KB, p${share * 100}: ${ms(ours!)}; floor ${ms(theirs!)}, ratio ${ratio.toFixed(2)} (goal ${GOAL})`,
    );
  }

  await deliver(http, hook, {}, LARGE, 2);
  await deliver(under, hook, more, LARGE, 2);
  for (const [name, id, send] of [
    ["the service", own, () => deliver(http, hook, {}, LARGE, 1)],
    ["floor", bare, () => deliver(under, hook, more, LARGE, 1)],
  ] as const) {
    const times: number[] = [];
    const peaks: number[] = [];
    for (let n = 0; n < ROUNDS; n++) peaks.push(await peakOf(id, async () => times.push(...(await send()))));
    const above = median(peaks) / 1e6;
    console.log(`a push of 25 MB, ${name}: ${ms(median(times))}, ${above.toFixed(0)} MB more memory at most`);
  }
  await forge(service, http, hook);
  http.close();
  under.close();
  await Promise.all([service.stop(), floor.stop()]);
};

if (import.meta.main) await benchHook();
