import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "../../../src/local/client.ts";
import { freshKeyset, localSettings } from "../../../src/local/service.ts";
import { newState, type ServedWorker, serveBundled } from "../served-worker.ts";
import { freePort } from "./free-port.ts";

export interface LocalService {
  url: string;
  port: number;
  /** A folder for files of the tests, which also contains the state. */
  folder: string;
  stateFolder: string;
  /** The Worker's settings and secrets; a test may change them before a restart. */
  vars: Record<string, string>;
  operator: Client;
  /** Returns the database of the current version. */
  db(): D1Database;
  /** Returns everything that the service has printed so far. */
  printed(): string;
  newOrganization(id: string): Promise<Client>;
  runUpkeep(): Promise<void>;
  /** Ends the service at once, like a kill. */
  stop(): Promise<void>;
  /** Stops the service and restarts it with the same port and state. */
  restart(): Promise<void>;
  /** Applies the migrations of another version of the service, then runs that version instead. */
  deploy(config?: string): Promise<void>;
  remove(): Promise<void>;
}

interface LocalServiceOptions {
  /** Path of the settings of another release to start with. */
  config?: string;
  inspectorPort?: number;
}

/** Serves the Worker as on a machine: with its static files, its own state folder, and clones by http and file. */
export const startLocalService = async (
  vars: Record<string, string> = {},
  { config, inspectorPort }: LocalServiceOptions = {},
): Promise<LocalService> => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-e2e-"));
  const stateFolder = join(folder, "state");
  if (config === undefined) newState(stateFolder);
  const port = await freePort();
  const keys = freshKeyset();
  const settings = { ...keys, CLONE_PROTOCOLS: "https,ssh,http,file", ...localSettings(port), ...vars };
  let printed = "";
  const print = (text: string): void => {
    printed += `${text}\n`;
  };
  const serve = (version: string | undefined): Promise<ServedWorker> =>
    serveBundled({ config: version, vars: settings, hasAssets: true, stateFolder, port, inspectorPort, print });
  let service = await serve(config);
  let running = config;
  const operator = new Client(service.url, keys.OPERATOR_TOKEN);
  const deploy = async (next: string | undefined): Promise<void> => {
    await service.stop();
    running = next;
    service = await serve(next);
  };
  return {
    url: service.url,
    port,
    folder,
    stateFolder,
    vars: settings,
    operator,
    db: () => service.db,
    printed: () => printed,
    newOrganization: (id) => service.newOrganization(id),
    runUpkeep: () => service.runUpkeep(),
    stop: () => service.stop(),
    restart: () => deploy(running),
    deploy,
    async remove() {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
