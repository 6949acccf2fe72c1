import { applyD1Migrations, type D1Migration, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, vi } from "vitest";
import { writeLines } from "./console-lines.ts";
import { callObjectsByName } from "./objects-by-name.ts";

afterEach(writeLines);
callObjectsByName();

/** Whether D1 and R2 still have what the file before has left. */
const isLeft = async (): Promise<boolean> => {
  const tables = env.DB.prepare("SELECT count(*) AS count FROM sqlite_schema WHERE name = 'build_summary'");
  const [count, { objects }] = await Promise.all([tables.first<number>("count"), env.ARCHIVE.list({ limit: 1 })]);
  return count !== 0 || objects.length > 0;
};

// The files share a workerd, in which the modules are loaded once. What the file before has left goes here. A reset
// sometimes deletes nothing of a database that a moment ago had work to do.
vi.useRealTimers();
do {
  await reset();
} while (await isLeft());
await applyD1Migrations(env.DB, (env as unknown as { TEST_MIGRATIONS: D1Migration[] }).TEST_MIGRATIONS);
