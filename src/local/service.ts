import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshKeyset } from "./keyset.ts";

export const ROOT = join(import.meta.dirname, "../..");
const WRANGLER = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
const CONFIG = join(ROOT, "wrangler.toml");

/** Secrets and settings of local work, made once: clones from folders and plain http are allowed here. */
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

/** What a child printed, and its end. @throws where it ended with another code than 0 */
const finished = async (child: ChildProcess, what: string): Promise<void> => {
  let printed = "";
  child.stdout?.on("data", (bytes) => {
    printed += bytes;
  });
  child.stderr?.on("data", (bytes) => {
    printed += bytes;
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${what} failed (exit code ${code}):\n${printed}`);
};

/** Brings the local database to the newest migration that `config` knows. */
export const migrate = (state: string, config = CONFIG): Promise<void> => {
  const where = ["--local", "--persist-to", state, "--config", config];
  return finished(wrangler(["d1", "migrations", "apply", "millrace", ...where], "pipe"), "Migrating");
};

export interface Service {
  url: string;
  process: ChildProcess;
  stop(): Promise<void>;
}

/**
 * Runs `wrangler dev` on loopback and waits until it answers.
 * @param vars settings that stand above those of wrangler.toml
 */
export const startService = async (options: {
  port: number;
  state: string;
  envFile: string;
  vars?: Record<string, string>;
  quiet?: boolean;
  logLevel?: "log" | "warn";
  config?: string;
}): Promise<Service> => {
  const { port, state, envFile, vars = {}, quiet, logLevel = "warn", config = CONFIG } = options;
  const settings = Object.entries(vars).flatMap(([name, value]) => ["--var", `${name}:${value}`]);
  const where = ["--port", String(port), "--ip", "127.0.0.1", "--inspector-port", "0", "--persist-to", state];
  const what = ["--config", config, "--env-file", envFile];
  const args = ["dev", ...where, ...what, "--show-interactive-dev-session=false", ...settings];
  const child = wrangler([...args, "--log-level", logLevel], quiet ? "pipe" : "inherit");
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (bytes) => {
      printed = (printed + bytes).slice(-20_000);
    });
  }
  const url = `http://127.0.0.1:${port}`;
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`wrangler dev ended (exit code ${child.exitCode}).\n${printed}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  };
  return { url, process: child, stop };
};

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/token/self`, { signal: AbortSignal.timeout(2000) }).then(
    (response) => response.status === 401,
    () => false,
  );
