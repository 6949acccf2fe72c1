import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { bytesKey, entryKey, putEntry, reserve, type StoredEntry, scopePath } from "../../../src/archive/cache.ts";
import { dayOf } from "../../../src/archive/keys.ts";
import { DAY_MS, NOW, upkeep } from "./support.ts";

const HOUR_MS = 3_600_000;
/** Returns the next full hour, when upkeep looks at caches. */
const onTheHour = (at: number): number => Math.ceil(at / HOUR_MS) * HOUR_MS;

const stored = async (scope: string, key: string, daysAgo: number) => {
  const path = `${scopePath("org", "repo", "pipeline", scope)}${key}`;
  const entry: StoredEntry = {
    ...{
      key,
      id: `id-${key}`,
      bytes: 1,
      sha256: "0",
      codec: "gzip" as const,
      ref: "refs/heads/main",
      pipelineId: "pipeline",
    },
    ...{ isOfDefaultBranch: true, madeAt: new Date(NOW).toISOString(), usedDay: dayOf(NOW - daysAgo * DAY_MS) },
  };
  await env.ARCHIVE.put(bytesKey(path, entry.id), "x");
  expect(await putEntry(env.ARCHIVE, path, entry)).toBe(true);
  return path;
};

const keys = async (): Promise<string[]> =>
  (
    await Promise.all(["cache/", "cachebytes/", "cachereserved/"].map((prefix) => env.ARCHIVE.list({ prefix })))
  ).flatMap(({ objects }) => objects.map(({ key }) => key));

it("cache upkeep removes entries unused for 14 days, and unfinished saves a day later", async () => {
  const now = onTheHour(Date.now());
  const days = Math.round((now - NOW) / DAY_MS);
  const used = await stored("a", "used", 13 - days);
  const unused = await stored("a", "unused", 16 - days);
  const last = await stored("b", "last", 16 - days);
  await env.ARCHIVE.put(bytesKey(used, "never-finished"), "x");
  await reserve(env.ARCHIVE, { path: used, jobId: "dead", fence: 1 }, now);
  expect(await keys()).toHaveLength(8);
  await upkeep({}, now);
  const left = await keys();
  expect(left).not.toContain(entryKey(unused));
  expect(left).not.toContain(bytesKey(unused, "id-unused"));
  expect(left).not.toContain(entryKey(last));
  expect(left).toContain(bytesKey(used, "never-finished"));
  expect(left).toContain(`cachereserved/${used}`);
  await upkeep({}, now + 26 * HOUR_MS);
  expect((await keys()).filter((key) => key.includes("used")).sort()).toEqual(
    [entryKey(used), bytesKey(used, "id-used")].sort(),
  );
});
