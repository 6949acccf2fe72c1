import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../../src/local/client.ts";
import { endProcess } from "../../../src/local/service.ts";
import { testedAgent } from "../set-up/agent.ts";

export interface RunningAgent {
  process: ChildProcess;
  state: string;
  printed(): string;
  /** Sends SIGTERM and waits for the end. Returns the exit code. */
  stop(): Promise<number | null>;
}

const run = (program: string, args: string[], stdin: "pipe" | "ignore", preload: string[] = []): ChildProcess =>
  spawn(process.execPath, [...preload, program, ...args], {
    stdio: [stdin, "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  });

const collect = (child: ChildProcess): (() => string) => {
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (bytes) => (text += bytes));
  return () => text;
};

/** Registers and starts a real agent process with the commands that a person types. */
export const startAgent = async (
  client: Client,
  folder: string,
  name: string,
  options: {
    register?: string[];
    start?: string[];
    url?: string;
    /** Labels that its token grants, and with which it registers. */
    labels?: string[];
    program?: string;
    /** Arguments of Node for `start`. */
    preload?: string[];
  } = {},
): Promise<RunningAgent> => {
  const state = mkdtempSync(join(folder, `${name}-`));
  const { token } = await client.call<{ token: string }>("POST", "/token", {
    name,
    kind: "registration",
    labels: ["special", ...(options.labels ?? [])],
  });
  const url = options.url ?? client.url;
  const registering = ["register", "--url", url, "--token-file", "-", "--name", name, "--state", state];
  const labelled = options.labels ? ["--labels", options.labels.join(",")] : [];
  const registration = run(
    options.program ?? testedAgent(),
    [...registering, ...labelled, ...(options.register ?? [])],
    "pipe",
  );
  const printedByRegister = collect(registration);
  registration.stdin?.end(`${token}\n`);
  const [code] = await once(registration, "exit");
  if (code !== 0) throw new Error(`The command register ended with ${code}: ${printedByRegister()}`);
  return startRegistered(state, options);
};

/** Starts the registered agent of the folder `state`. `program` may belong to another release. */
export const startRegistered = (
  state: string,
  { start = [], program = testedAgent(), preload }: { start?: string[]; program?: string; preload?: string[] },
): RunningAgent => {
  const child = run(program, ["start", "--state", state, ...start], "ignore", preload);
  const printed = collect(child);
  return {
    process: child,
    state,
    printed,
    async stop() {
      // The second SIGTERM stops the build that the agent would wait for.
      await endProcess(child, ["SIGTERM", "SIGTERM"]);
      return child.exitCode;
    },
  };
};
