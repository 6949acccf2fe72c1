import { applyD1Migrations, type D1Migration, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";

// A line of each request would go to the process of vitest: a tenth of what the tests take.
console.log = () => {};

// The files share a workerd, in which the modules are loaded once. What the file before has left goes here.
vi.useRealTimers();
await reset();
await applyD1Migrations(env.DB, (env as unknown as { TEST_MIGRATIONS: D1Migration[] }).TEST_MIGRATIONS);
