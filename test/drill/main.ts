import { parseArgs } from "node:util";

interface Drill {
  description: string;
  /** The module's `drill` returns whether all is as it should be. */
  load(): Promise<{ drill(): Promise<boolean> }>;
}

const DRILLS: Record<string, Drill> = {
  heap: {
    description: "wakes a pool of 5,000 agents and 15,000 builds, and asks the inspector for its heap",
    load: () => import("./heap.ts"),
  },
  nodes: {
    description: "runs the bundled agent on the oldest Node that it supports, the newest of each line, and one too old",
    load: () => import("./nodes.ts"),
  },
};

const USAGE = `npm run drill -- NAME

Checks that take too long, or download too much, for the tests. Exit code 1: not as it should be. NAME is one of
${Object.entries(DRILLS)
  .map(([name, { description }]) => `  ${name.padEnd(12)} ${description}`)
  .join("\n")}`;

const { values, positionals } = parseArgs({ options: { help: { type: "boolean" } }, allowPositionals: true });
const chosen = DRILLS[positionals[0] ?? ""];
if (values.help || !chosen) {
  console.log(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else {
  const { drill } = await chosen.load();
  process.exitCode = (await drill()) ? 0 : 1;
}
