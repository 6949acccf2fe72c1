import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "../../../src/local/client.ts";
import { ensureDevVars, migrate, type Service, startService } from "../../../src/local/service.ts";

/** Ports of this worker's own, below those that the system hands out: test files that run at once take none twice. */
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
  /** The Worker's secrets and settings, for one who changes them between two runs. */
  envFile: string;
  operator: Client;
  /** All that the service has printed since its start. */
  printed(): string;
  newOrganization(id: string): Promise<Client>;
  /** Ends the service and starts it again on the same port and state. */
  restart(): Promise<void>;
  /** Applies the migrations of another version of the service, then runs that version in its place. */
  deploy(config?: string): Promise<void>;
  remove(): Promise<void>;
}

/** A real `wrangler dev` with a state folder of its own. `first` is the configuration of another version to begin with. */
export const startLocalService = async (
  vars: Record<string, string> = {},
  logLevel: "log" | "warn" = "warn",
  first?: string,
): Promise<LocalService> => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-e2e-"));
  const envFile = join(folder, "dev.vars");
  const stateFolder = join(folder, "state");
  const { OPERATOR_TOKEN = "" } = ensureDevVars(envFile);
  let config = first;
  await migrate(stateFolder, config);
  const port = await freePort();
  const options = { port, state: stateFolder, envFile, vars, quiet: true, logLevel };
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
    ...{ url: service.url, folder, stateFolder, port, envFile, operator },
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
      config = next;
      await migrate(stateFolder, config);
      service = await start();
    },
    async remove() {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
