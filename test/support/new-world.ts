import { applyD1Migrations, type D1Migration, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, vi } from "vitest";
import { writeLines } from "./console-lines.ts";
import { callObjectsByName } from "./objects-by-name.ts";

afterEach(writeLines);
callObjectsByName();

/** Reports whether D1 and R2 still have data of the previous file. */
const isLeft = async (): Promise<boolean> => {
  const tables = env.DB.prepare("SELECT count(*) AS count FROM sqlite_schema WHERE name = 'build_summary'");
  const [count, { objects }] = await Promise.all([tables.first<number>("count"), env.ARCHIVE.list({ limit: 1 })]);
  return count !== 0 || objects.length > 0;
};

// The files share a workerd, in which the modules are loaded once. This removes the data of the previous file. A reset
// sometimes deletes nothing of a database that was busy a moment ago.
vi.useRealTimers();
do {
  await reset();
} while (await isLeft());
await applyD1Migrations(env.DB, (env as unknown as { TEST_MIGRATIONS: D1Migration[] }).TEST_MIGRATIONS);
