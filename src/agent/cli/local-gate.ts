import { createInterface } from "node:readline/promises";
import type { GraphJob } from "../../domain/jobs/graph.ts";
import type { GateDecision } from "../../domain/jobs/job-end.ts";
import { say } from "./local-words.ts";

export interface GateOptions {
  /** Open every gate without asking. */
  approve: boolean;
  signal: AbortSignal;
}

const decided = (approved: boolean, comment: string | null): GateDecision => ({
  approved,
  at: Date.now(),
  actor: "local",
  name: "local",
  role: "admin",
  comment,
});

/** Asks on the terminal whether the gate of a job opens. Without a terminal it stays closed. */
export const askGate = async ({ key, gate }: GraphJob, { approve, signal }: GateOptions): Promise<GateDecision> => {
  const question = `${key} waits for approval${gate?.message ? `: ${gate.message}` : ""}`;
  if (approve || signal.aborted) return decided(approve && !signal.aborted, null);
  if (!process.stdin.isTTY) {
    say(`${question}\nThere is no terminal to ask on: --approve opens every gate`);
    return decided(false, "not asked");
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal });
    return decided(/^y(?:es)?$/i.test(answer.trim()), null);
  } catch {
    return decided(false, null);
  } finally {
    terminal.close();
  }
};
