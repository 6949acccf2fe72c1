import { parseArgs } from "node:util";

/** Trials that are too long, or need too much of a machine, for the tests. Each answers whether it went well. */
const DRILLS: Record<string, { says: string; load(): Promise<{ drill(): Promise<boolean> }> }> = {
  nodes: { says: "the agent's program on the oldest Node, and on each in use", load: () => import("./nodes.ts") },
};

const { values, positionals } = parseArgs({ options: { help: { type: "boolean" } }, allowPositionals: true });
const chosen = DRILLS[positionals[0] ?? ""];
if (values.help || !chosen) {
  console.log("npm run drill -- NAME, where NAME is one of");
  for (const [name, { says }] of Object.entries(DRILLS)) console.log(`  ${name.padEnd(12)} ${says}`);
  process.exitCode = values.help ? 0 : 2;
} else {
  const { drill } = await chosen.load();
  process.exitCode = (await drill()) ? 0 : 1;
}
