import { globSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { waitForEnd } from "../../src/local/demo.ts";
import type { Build } from "../../src/protocol/build.ts";
import type { OrganizationRemoval } from "../../src/protocol/organization.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import type { Repository } from "../../src/protocol/repository.ts";
import { startAgent } from "../support/local/agent.ts";
import { makeRepository } from "../support/local/git-repository.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";

const ORG = "leaving";
const CANARY = `canary-${crypto.randomUUID()}`;
const FILE = 'steps:\n  - run: echo "$SHOWN"; if [ "${SLEEP:-}" ]; then sleep 300; fi\n';

/**
 * Returns every row in the databases of D1, the objects and R2 that has the value. Searches rows, because a file keeps
 * freed pages.
 */
const rowsWith = (stateFolder: string, value: string): string[] =>
  globSync(join(stateFolder, "v3/{d1,do,r2}/**/*.sqlite")).flatMap((file) => {
    const database = new DatabaseSync(file, { readOnly: true });
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as { name: string }[];
    const found = tables
      .map(({ name }) => name)
      .filter((name) => {
        const rows = database.prepare(`SELECT * FROM "${name}"`);
        rows.setReadBigInts(true);
        const text = JSON.stringify(rows.all(), (_, field) => {
          if (typeof field === "bigint") return String(field);
          return field instanceof Uint8Array ? Buffer.from(field).toString() : field;
        });
        return text.includes(value);
      });
    database.close();
    return found.map((name) => `${file.slice(stateFolder.length)} ${name}`);
  });

/** Runs one build to its end and leaves another one running. */
const furnish = async (service: LocalService) => {
  const client = await service.newOrganization(ORG);
  const source = makeRepository(service.folder, { ".millrace.yml": FILE });
  const repository = await client.call<Repository>("POST", "/repository", {
    ...{ gitHostRepoId: 1, fullName: "acme/app", cloneUrl: `file://${source.work}` },
  });
  const variable = { key: "SHOWN", value: CANARY, isSecret: false, scope: "organization", orgId: ORG };
  await client.call("POST", "/secrets/variables", variable);
  const { id: pipelineId } = await client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci" });
  const agent = await startAgent(client, service.folder, "one", { start: [] });
  const start = (envVariables: Record<string, string>) =>
    client.call<Build>("POST", "/build", { pipelineId, branch: "main", envVariables });
  await waitForEnd(client, (await start({})).id);
  const { id } = await start({ SLEEP: "1" });
  while ((await client.call<Build>("GET", `/build/${id}`)).status !== "running") await pause(200);
  return agent;
};

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Stops the service in the middle of a call, restarts it, and calls until nothing is left. */
const remove = async (service: LocalService): Promise<void> => {
  const call = () => service.operator.call<OrganizationRemoval | undefined>("DELETE", `/organization/${ORG}`);
  const first = await call();
  console.log(JSON.stringify(first));
  await pause(Date.parse(first?.deletingAt ?? "") + 61_000 - Date.now());
  const cut = call().catch(() => undefined);
  await service.restart();
  await cut;
  for (let left = await call(); left; left = await call()) console.log(JSON.stringify(left));
};

/** Deletes an organization with a build under way. Searches D1, objects and R2 before and after. */
export const drill = async (): Promise<boolean> => {
  const service = await startLocalService();
  try {
    const agent = await furnish(service);
    const before = rowsWith(service.stateFolder, CANARY);
    console.log(`Rows with the canary before:\n${before.map((row) => `  ${row}`).join("\n")}`);
    await remove(service);
    await agent.stop();
    await service.stop();
    const after = [CANARY, ORG].flatMap((value) => rowsWith(service.stateFolder, value));
    console.log(`Rows with the canary or the slug after:\n${after.map((row) => `  ${row}`).join("\n")}`);
    const isFound = ["variable"].every((table) => before.some((row) => row.endsWith(` ${table}`)));
    return isFound && after.every((row) => row.endsWith(" former_organization"));
  } finally {
    await service.remove();
  }
};
