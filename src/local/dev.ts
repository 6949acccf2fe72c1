import { join } from "node:path";
import { ensureDevVars, localSettings, migrate, ROOT, runUpkeepEachMinute, startService } from "./service.ts";

/* Runs the service alone, after the migrations of its local database. */
const port = Number(process.env.PORT ?? 8787);
const envFile = join(ROOT, ".dev.vars");
const state = join(ROOT, ".wrangler/state");
ensureDevVars(envFile);
await migrate(state);
const service = await startService({ port, state, envFile, vars: localSettings(port) });
runUpkeepEachMinute(service.url);
console.log(`Millrace answers at ${service.url}. The operator's token is OPERATOR_TOKEN in .dev.vars.`);
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => service.stop().then(() => process.exit(0)));
