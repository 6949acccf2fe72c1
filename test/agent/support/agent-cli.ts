import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { testedAgent } from "../../support/set-up/agent.ts";

const ROOT = join(import.meta.dirname, "../../..");

export interface AgentProcess {
  kill(signal: NodeJS.Signals): void;
  /** All output so far. */
  output(): string;
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
  pid: number;
}

/** Starts the real program, `node agent.mjs ARGS`. The caller ends it. */
export const startAgentCli = (
  args: string[],
  { cwd = ROOT, input = "", env = {}, program = testedAgent() } = {},
): AgentProcess => {
  const child = spawn(process.execPath, [program, ...args], { cwd, env: { ...process.env, ...env } });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return {
    kill: (signal) => child.kill(signal),
    output: () => stdout + stderr,
    ended: once(child, "close").then(([code]) => ({ code, stdout, stderr })),
    pid: child.pid ?? 0,
  };
};

/** Starts the real program for one test, and ends it with the test. */
export const runAgentCli = (...started: Parameters<typeof startAgentCli>): AgentProcess => {
  const agent = startAgentCli(...started);
  onTestFinished(() => agent.kill("SIGKILL"));
  return agent;
};
