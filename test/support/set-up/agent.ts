import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentProgram } from "../../../src/assets/programs.ts";
import { ROOT } from "../../../src/local/service.ts";

const VARIABLE = "MILLRACE_TEST_AGENT";

/** The agent from its sources, which takes four times as long to start as the delivered program. */
export const AGENT_SOURCE = join(ROOT, "src/agent/main.ts");

/** Returns the program that tests start: the delivered one, bundled once for all of them. */
export const testedAgent = (): string => process.env[VARIABLE] ?? AGENT_SOURCE;

export const setup = async (): Promise<() => void> => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-agent-"));
  const program = join(folder, "agent.mjs");
  writeFileSync(program, (await agentProgram()).text);
  process.env[VARIABLE] = program;
  return () => rmSync(folder, { recursive: true, force: true });
};
