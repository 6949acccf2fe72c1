import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { MINUTE_MS } from "../protocol/units.ts";
import type { Client } from "./client.ts";
import { ROOT } from "./service.ts";

const spawnAgent = (args: string[], stdin: "pipe" | "ignore", stdout: "inherit" | "ignore"): ChildProcess =>
  spawn(process.execPath, [join(ROOT, "src/agent/main.ts"), ...args], {
    cwd: ROOT,
    stdio: [stdin, stdout, "inherit"],
  });

/** Registers an agent with a short-lived token, unless its state folder already has an identity. */
const register = async (client: Client, state: string): Promise<void> => {
  const expiresAt = new Date(Date.now() + 10 * MINUTE_MS).toISOString();
  const body = { name: "local agent", kind: "registration", expiresAt };
  const { token, id } = await client.call<{ token: string; id: string }>("POST", "/token", body);
  const place = ["--url", client.url, "--token-file", "-", "--name", "local", "--state", state];
  // Hide the output: it explains how to start the agent, and this script starts the agent next.
  const child = spawnAgent(["register", ...place], "pipe", "ignore");
  child.stdin?.end(`${token}\n`);
  const [code] = await once(child, "exit");
  await client.call("DELETE", `/token/${id}`);
  if (code !== 0) throw new Error(`Cannot register the agent (exit code ${code}): see above.`);
};

/** Starts an agent for the local service as a separate process. Registers it first if necessary. */
export const startAgent = async (client: Client, state: string, isRegistered: boolean): Promise<ChildProcess> => {
  if (!isRegistered || !existsSync(state)) await register(client, state);
  return spawnAgent(["start", "--state", state], "ignore", "inherit");
};
