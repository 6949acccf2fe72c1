import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { ROOT } from "../../src/local/service.ts";
import { serveBundled } from "../support/served-worker.ts";
import { KeepAliveClient } from "./support/keep-alive.ts";
import { cookieOf, fillOrganization, type PageAndCall } from "./support/pages.ts";
import { median, ms } from "./support/statistics.ts";

const ROUNDS = 40;
const KILOBYTE = 1000;

const gzipped = (bytes: string | Buffer): number => gzipSync(bytes).length;

/** Returns a page's gzipped bytes for a browser with an empty cache: with its style sheet and modules. */
const weight = (html: string): number => {
  const files = [...html.matchAll(/(?:src|href)="(\/app\/static\/[^"]+)"/g)].map(([, path]) => path as string);
  const served = [...new Set(files)].map((path) => gzipped(readFileSync(join(ROOT, "dist/assets", path))));
  return gzipped(html) + served.reduce((sum, size) => sum + size, 0);
};

const service = await serveBundled();
const client = await service.newOrganization("bench");
const http = new KeepAliveClient(service.url);
const pairs = await fillOrganization(client, http);
const cookie = await cookieOf(client);

const taken = async (path: string, asked: { token?: string; headers?: Record<string, string> }): Promise<number> => {
  const begun = performance.now();
  const { status } = await http.send("GET", path, asked);
  if (status !== 200) throw new Error(`${path}: ${status}`);
  return performance.now() - begun;
};

/** Measures page and call in turns, so that the machine's load is the same for both. */
const measure = async ({ page, call }: PageAndCall) => {
  const asPerson = { headers: { Cookie: cookie } };
  const asProgram = { token: client.token };
  const first = await fetch(service.url + page, { headers: { Cookie: cookie } });
  const rounds = /rounds=(\d+)/.exec(first.headers.get("Server-Timing") ?? "")?.[1] ?? "?";
  const bytes = weight(await first.text());
  const pages: number[] = [];
  const calls: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    pages.push(await taken(page, asPerson));
    calls.push(await taken(call, asProgram));
  }
  return { own: median(pages), api: median(calls), rounds, bytes };
};

console.log("  page: server time, its API call, ratio (goal under 1.5), D1 round trips, kB gzipped (goal 60)");
for (const pair of pairs) {
  const { own, api, rounds, bytes } = await measure(pair);
  const figures = [ms(own), ms(api), (own / api).toFixed(2), `${rounds} D1`, `${(bytes / KILOBYTE).toFixed(1)} kB`];
  console.log(`    ${pair.name.padEnd(14)}${figures.map((figure) => figure.padStart(10)).join("")}`);
}
http.close();
await service.stop();
