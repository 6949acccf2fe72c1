import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { processTable } from "../../../src/agent/process/process-table.ts";
import { testedAgent } from "../../support/set-up/agent.ts";

const ROOT = join(import.meta.dirname, "../../..");

export interface AgentProcess {
  kill(signal: NodeJS.Signals): void;
  /** All output so far. */
  output(): string;
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
  pid: number;
  /** Lets an idle agent exit, and kills what is still alive after `STOP_LIMIT_MS`. */
  stop(): Promise<void>;
  /** Kills the agent and all its processes, also those that outlive a killed agent. @throws when one stays alive */
  end(): Promise<void>;
}

/** Steps inherit this variable, so that a test also finds the steps of a killed agent. */
const TEST_AGENT = "TEST_AGENT";
const STOP_LIMIT_MS = 10_000;
const KILL_LIMIT_MS = 10_000;
/** One scan may miss a process that has just been forked. */
const EMPTY_SCANS = 2;

const killAll = async (variable: string): Promise<void> => {
  const until = Date.now() + KILL_LIMIT_MS;
  for (let empty = 0; empty < EMPTY_SCANS; ) {
    const living = processTable(variable).filter((row) => row.hasRunId());
    for (const { pid } of living) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {}
    }
    empty = living.length === 0 ? empty + 1 : 0;
    if (Date.now() > until) throw new Error(`processes of a test's agent stay alive: ${living.map(({ pid }) => pid)}`);
    await delay(10);
  }
};

/** Starts the real program, `node agent.mjs ARGS`. The caller ends it. */
export const startAgentCli = (
  args: string[],
  { cwd = ROOT, input = "", env = {}, program = testedAgent() } = {},
): AgentProcess => {
  const id = randomUUID();
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { ...process.env, ...env, [TEST_AGENT]: id },
  });
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
  const ended = once(child, "close").then(([code]) => ({ code, stdout, stderr }));
  const end = () => killAll(`${TEST_AGENT}=${id}`);
  return {
    kill: (signal) => child.kill(signal),
    output: () => stdout + stderr,
    ended,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill("SIGTERM");
      await Promise.race([ended, delay(STOP_LIMIT_MS, null, { ref: false })]);
      await end();
    },
    end,
  };
};

/** Starts the real program for one test, and ends it and its processes with the test. */
export const runAgentCli = (...started: Parameters<typeof startAgentCli>): AgentProcess => {
  const agent = startAgentCli(...started);
  onTestFinished(agent.end);
  return agent;
};
