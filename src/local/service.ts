import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomText } from "../crypto/token.ts";
import { MINUTE_MS, SECOND_MS } from "../protocol/units.ts";

const key = (id: string): string =>
  `${id}:${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")}`;

/** Creates random values for the Worker's secrets. */
export const freshKeyset = (): Record<"OPERATOR_TOKEN" | "TOKEN_KEYS" | "SECRETS_KEYS", string> => ({
  OPERATOR_TOKEN: `mro_${randomText(42)}`,
  TOKEN_KEYS: key("t1"),
  SECRETS_KEYS: key("s1"),
});

export const ROOT = join(import.meta.dirname, "../..");
const WRANGLER = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
const CONFIG = join(ROOT, "wrangler.toml");

/**
 * Reads the local secrets and settings, and creates them if they are missing. The settings allow clones by file and
 * http.
 */
export const ensureDevVars = (path: string): Record<string, string> => {
  if (!existsSync(path)) {
    const lines = Object.entries({ ...freshKeyset(), CLONE_PROTOCOLS: "https,ssh,http,file" });
    writeFileSync(path, lines.map(([name, value]) => `${name}=${value}\n`).join(""), { mode: 0o600 });
  }
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
};

const wrangler = (args: string[], stdio: "inherit" | "pipe"): ChildProcess =>
  spawn(process.execPath, [WRANGLER, ...args], {
    cwd: ROOT,
    env: {
      ...process.env,
      CI: "1",
      WRANGLER_SEND_METRICS: "false",
      NO_COLOR: process.stdout.isTTY ? "" : "1",
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
    },
    stdio: ["ignore", stdio, stdio],
  });

/** Waits for a child's end. @throws with the child's output unless the child exits with 0 */
const waitForSuccess = async (child: ChildProcess, what: string): Promise<void> => {
  let output = "";
  child.stdout?.on("data", (bytes) => {
    output += bytes;
  });
  child.stderr?.on("data", (bytes) => {
    output += bytes;
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${what} failed (exit code ${code}):\n${output}`);
};

/** Applies all migrations of `config` to the local database. */
export const migrate = (state: string, config = CONFIG): Promise<void> => {
  const command = ["d1", "migrations", "apply", "millrace", "--local", "--persist-to", state, "--config", config];
  return waitForSuccess(wrangler(command, "pipe"), "The migration of the local database");
};

interface Service {
  url: string;
  process: ChildProcess;
  stop(): Promise<void>;
}

interface StartServiceOptions {
  port: number;
  state: string;
  envFile: string;
  /** Settings that override those of wrangler.toml. */
  vars?: Record<string, string>;
  quiet?: boolean;
  logLevel?: "log" | "warn";
  config?: string;
  /** The port of the inspector. The default is any free port. */
  inspectorPort?: number;
}

/** Returns the settings of a service on this machine. Browsers resolve every name below localhost to this machine. */
export const localSettings = (port: number): Record<string, string> => ({
  ARTIFACT_ORIGIN: `http://artifacts.localhost:${port}`,
});

const devCommand = (options: StartServiceOptions): string[] => {
  const { port, state, envFile, vars = {}, logLevel = "warn", config = CONFIG, inspectorPort = 0 } = options;
  const settings = Object.entries(vars).flatMap(([name, value]) => ["--var", `${name}:${value}`]);
  const address = ["--port", String(port), "--ip", "127.0.0.1", "--inspector-port", String(inspectorPort)];
  const files = ["--persist-to", state, "--config", config, "--env-file", envFile];
  // Without --test-scheduled, wrangler advises people to trigger the upkeep. `upkeep.ts` already triggers it.
  const quiet = ["--show-interactive-dev-session=false", "--test-scheduled", "--log-level", logLevel];
  return ["dev", ...address, ...files, ...settings, ...quiet];
};

/** Runs `wrangler dev` on loopback and waits until it answers. */
export const startService = async (options: StartServiceOptions): Promise<Service> => {
  const child = wrangler(devCommand(options), options.quiet ? "pipe" : "inherit");
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (bytes) => {
      output = (output + bytes).slice(-20_000);
    });
  }
  const url = `http://127.0.0.1:${options.port}`;
  while (!(await isReachable(url))) {
    if (child.exitCode !== null) throw new Error(`wrangler dev ended (exit code ${child.exitCode}).\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { url, process: child, stop: () => endProcess(child) };
};

const isReachable = (url: string): Promise<boolean> =>
  fetch(`${url}/token/self`, { signal: AbortSignal.timeout(2000) }).then(
    (response) => response.status === 401,
    () => false,
  );

/** The time in milliseconds that a process gets after each signal. */
const PATIENCE = 30 * SECOND_MS;

/**
 * Ends a child with these signals, one after the other while the child lives, and with SIGKILL after the last.
 * @returns when the process has ended
 */
export const endProcess = async (child: ChildProcess, signals: NodeJS.Signals[] = ["SIGTERM"]): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  for (const signal of [...signals, "SIGKILL"] as const) {
    child.kill(signal);
    if (await isGoneWithin(exit, PATIENCE)) return;
  }
  await exit;
};

const isGoneWithin = (exit: Promise<unknown>, milliseconds: number): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), milliseconds);
    exit.then(
      () => {
        clearTimeout(timer);
        resolve(true);
      },
      () => resolve(true),
    );
  });

/** Runs the upkeep of a local service once. If the service is unreachable, its upkeep runs in the next minute. */
export const runUpkeep = (url: string): Promise<void> =>
  fetch(`${url}/cdn-cgi/local/scheduled`).then(
    () => {},
    () => {},
  );

/**
 * Runs the upkeep every minute, like the cron trigger in wrangler.toml, because `wrangler dev` runs no cron triggers.
 */
export const runUpkeepEachMinute = (url: string): void => {
  setInterval(() => void runUpkeep(url), MINUTE_MS);
};
