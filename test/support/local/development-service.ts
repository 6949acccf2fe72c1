import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "../../../src/local/client.ts";
import { ensureDevVars, localSettings, migrate, startService } from "../../../src/local/service.ts";
import { preparedService } from "../prepared-service.ts";
import { newState } from "../served-worker.ts";
import { freePort } from "./free-port.ts";
import type { LocalService } from "./service.ts";

/** Starts `wrangler dev`, as `npm start` does. It is the slowest service of the tests to start and to answer. */
export const startDevelopmentService = async (): Promise<
  Pick<LocalService, "url" | "folder" | "newOrganization" | "remove">
> => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-dev-"));
  const envFile = join(folder, "dev.vars");
  const { OPERATOR_TOKEN = "" } = ensureDevVars(envFile);
  const prepared = preparedService();
  const state = newState(join(folder, "state"));
  const config = prepared?.config;
  if (!prepared) await migrate(state);
  const port = await freePort();
  const { url, stop } = await startService({ port, state, envFile, vars: localSettings(port), quiet: true, config });
  const operator = new Client(url, OPERATOR_TOKEN);
  return {
    url,
    folder,
    async newOrganization(id) {
      const { token } = await operator.call<{ token: string }>("POST", "/organization", { id, name: id });
      return new Client(url, token);
    },
    async remove() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
