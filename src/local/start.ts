import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Build } from "../protocol/build.ts";
import { offerSignIn, openOrganization } from "./access.ts";
import { startAgent } from "./agent.ts";
import { Client } from "./client.ts";
import { prepareDemo, printLog, waitForDatabase, waitForEnd } from "./demo.ts";
import { makeSampleRepository } from "./sample-repository.ts";
import {
  endProcess,
  ensureDevVars,
  localSettings,
  migrate,
  ROOT,
  runUpkeep,
  runUpkeepEachMinute,
  startService,
} from "./service.ts";

/*
 * Starts the service, creates an organization, a repository and an agent, and runs a build. A later start reuses them.
 */
const ORG = "acme";
const port = Number(process.env.PORT ?? 8787);
const folder = join(ROOT, ".millrace");
const localFile = join(folder, "local.json");
const agentState = join(folder, "agent");
const envFile = join(ROOT, ".dev.vars");
const databaseFolder = join(ROOT, ".wrangler/state");

const step = (text: string) => console.log(process.stdout.isTTY ? `\x1b[36m==>\x1b[0m ${text}` : `==> ${text}`);

mkdirSync(folder, { recursive: true });
const { OPERATOR_TOKEN = "" } = ensureDevVars(envFile);
step("Updating the local database");
await migrate(databaseFolder);
step(`Starting the service on port ${port}`);
const service = await startService({ port, state: databaseFolder, envFile, vars: localSettings(port) });
runUpkeepEachMinute(service.url);
const wasStarted = existsSync(localFile) && JSON.parse(readFileSync(localFile, "utf8")).url === service.url;
const local = await openOrganization(service.url, ORG, OPERATOR_TOKEN, localFile);
const client = new Client(local.url, local.token);

step("Connecting a sample repository with variables and secrets at every scope");
const repository = await prepareDemo(client, ORG, makeSampleRepository(folder));

step("Starting an agent");
if (!wasStarted) rmSync(agentState, { recursive: true, force: true });
const agent = await startAgent(client, agentState, wasStarted);
const stop = async (code: number) => {
  await endProcess(agent, ["SIGTERM", "SIGTERM"]);
  await service.stop();
  process.exit(code);
};
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop(0));

const build = await client.call<Build>("POST", `/repository/${repository.id}/build`, { branch: "main" });
step(`Build #${build.number} of ${repository.fullName}; its log:`);
await printLog(client, build.id, (text) => process.stdout.write(text));
const { status, message } = await waitForEnd(client, build.id);
step(`Build #${build.number} ${status}`);
if (status !== "succeeded") {
  console.error(message ?? "See the log above.");
  await stop(1);
}
await waitForDatabase(client);
await runUpkeep(service.url);
writeFileSync(localFile, `${JSON.stringify(local, null, 2)}\n`, { mode: 0o600 });
const link = await offerSignIn(local);
console.log(`
Open it in a browser: ${link.url}
(the link works once)

Millrace is at ${local.url}, organization ${ORG}, admin token:
  ${local.token}
(also in .millrace/local.json). Try next:

  export MILLRACE_TOKEN=${local.token}
  curl -H "Authorization: Bearer $MILLRACE_TOKEN" ${local.url}/build
  curl -H "Authorization: Bearer $MILLRACE_TOKEN" ${local.url}/build/${build.id}/log
  curl -H "Authorization: Bearer $MILLRACE_TOKEN" -H "Content-Type: application/json" \\
       -d '{"branch":"main"}' ${local.url}/repository/${repository.id}/build

Stop with Ctrl-C; the next \`npm start\` continues with the same data.`);
