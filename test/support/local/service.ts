import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "../../../src/local/client.ts";
import { ensureDevVars, localSettings, migrate, type Service, startService } from "../../../src/local/service.ts";
import { preparedService } from "../set-up/service.ts";

/** Each test worker has its own range, below the ephemeral ports: parallel test files never take the same port. */
const PORTS = 1_000;
const FIRST_PORT = 20_000 + Number(process.env.VITEST_POOL_ID ?? 0) * PORTS;
let next = Math.floor(Math.random() * PORTS);

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = FIRST_PORT + (next++ % PORTS);
    if (await isFree(port)) return port;
  }
};

export interface LocalService extends Service {
  folder: string;
  stateFolder: string;
  port: number;
  /** Path of the file with the Worker's secrets and settings; a test may change it before a restart. */
  envFile: string;
  operator: Client;
  /** Everything that the service has printed so far. */
  printed(): string;
  newOrganization(id: string): Promise<Client>;
  /** Stops the service and starts it again with the same port and state. */
  restart(): Promise<void>;
  /** Applies the migrations of another version of the service, then runs that version in its place. */
  deploy(config?: string): Promise<void>;
  remove(): Promise<void>;
}

/** Starts `wrangler dev` with its own state folder. `first`: configuration of another version to start with. */
export const startLocalService = async (
  vars: Record<string, string> = {},
  logLevel: "log" | "warn" = "warn",
  first?: string,
  inspectorPort?: number,
): Promise<LocalService> => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-e2e-"));
  const envFile = join(folder, "dev.vars");
  const stateFolder = join(folder, "state");
  const { OPERATOR_TOKEN = "" } = ensureDevVars(envFile);
  const prepared = preparedService();
  let config = first ?? prepared?.config;
  if (prepared && first === undefined) cpSync(prepared.state, stateFolder, { recursive: true });
  else await migrate(stateFolder, config);
  const port = await freePort();
  const settings = { ...localSettings(port), ...vars };
  const options = { port, state: stateFolder, envFile, vars: settings, quiet: true, logLevel, inspectorPort };
  let printed = "";
  const start = async (): Promise<Service> => {
    const started = await startService({ ...options, config });
    for (const stream of [started.process.stdout, started.process.stderr])
      stream?.on("data", (text) => (printed += text));
    return started;
  };
  let service = await start();
  const operator = new Client(service.url, OPERATOR_TOKEN);
  return {
    url: service.url,
    folder,
    stateFolder,
    port,
    envFile,
    operator,
    printed: () => printed,
    get process() {
      return service.process;
    },
    stop: () => service.stop(),
    async newOrganization(id) {
      const { token } = await operator.call<{ token: string }>("POST", "/organization", { id, name: id });
      return new Client(service.url, token);
    },
    async restart() {
      await service.stop();
      service = await start();
    },
    async deploy(next) {
      await service.stop();
      config = next ?? prepared?.config;
      await migrate(stateFolder, config);
      service = await start();
    },
    async remove() {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
