import { parseArgs } from "node:util";

interface Drill {
  description: string;
  /** The module's `drill` reports whether everything is right. */
  load(): Promise<{ drill(options: DrillOptions): Promise<boolean> }>;
}

interface DrillOptions {
  agents?: number;
  folder?: string;
  gib?: number;
}

const DRILLS: Record<string, Drill> = {
  artifacts: {
    description: "sends 10 GiB (--gib N) through cuts and a restart, then 5,000 files, then kills the agent",
    load: () => import("./artifacts.ts"),
  },
  backlog: {
    description:
      "pushes 3,000 times to a host that rejects the token, then once with a valid one, and counts the statuses sent before it",
    load: () => import("./backlog.ts"),
  },
  day: {
    description:
      "simulates a day of 5,000 builds on a jumping clock, with D1 overloaded and R2 unavailable, and counts losses",
    load: () => import("./day.ts"),
  },
  heap: {
    description: "wakes a pool of 5,000 agents and 15,000 builds, and measures its heap with the inspector",
    load: () => import("./heap.ts"),
  },
  importer: {
    description: "imports all workflows below a folder (--folder DIR), and counts the results",
    load: () => import("./importer.ts"),
  },
  jobs: {
    description: "runs 20 builds of 13 jobs on three agents, which it kills and restarts at random moments",
    load: () => import("./jobs.ts"),
  },
  leave: {
    description: "deletes an organization with an active build, stops the service meanwhile, and searches for remains",
    load: () => import("./leave.ts"),
  },
  nodes: {
    description:
      "runs the bundled agent on its oldest supported Node, each line's newest release, and one that is too old",
    load: () => import("./nodes.ts"),
  },
  outage: {
    description: "pushes 120 times to a GitHub App's repository while the service is down, and counts the builds",
    load: () => import("./outage.ts"),
  },
  pictures: {
    description:
      "takes screenshots of every page (into --folder DIR) at four widths in both themes, with axe's findings",
    load: () => import("./pictures.ts"),
  },
  pushes: {
    description:
      "delivers 1,000 pushes each for GitLab and Gitea, and some for GitHub, twice, while the hosts are unavailable",
    load: () => import("./pushes.ts"),
  },
  restore: {
    description: "restores older files of D1, of the pool and of both under a running service, and checks the promises",
    load: () => import("./restore.ts"),
  },
  restart: {
    description: "restarts a service under 2,000 agents (--agents N), and counts their calls and the lost leases",
    load: () => import("./restart.ts"),
  },
  retention: {
    description: "fills a pool and D1 with 250,000 old rows, and counts the rounds of upkeep until they are gone",
    load: () => import("./retention.ts"),
  },
  warm: {
    description: "builds npm, C and Java projects twice, and prints the seconds with a cold and a warm cache",
    load: () => import("./warm.ts"),
  },
};

const USAGE = `npm run drill -- NAME [--agents N] [--gib N] [--folder DIR]

Checks that take too long, or download too much, for the tests. Exit code 1: a check failed. NAME is one of
${Object.entries(DRILLS)
  .map(([name, { description }]) => `  ${name.padEnd(12)} ${description}`)
  .join("\n")}`;

/** Returns the given options as numbers. */
const numbersIn = ({ agents, gib }: { agents?: string | undefined; gib?: string | undefined }): DrillOptions => ({
  ...(agents === undefined ? {} : { agents: Number(agents) }),
  ...(gib === undefined ? {} : { gib: Number(gib) }),
});

const { values, positionals } = parseArgs({
  options: {
    help: { type: "boolean" },
    agents: { type: "string" },
    gib: { type: "string" },
    folder: { type: "string" },
  },
  allowPositionals: true,
});
const chosen = DRILLS[positionals[0] ?? ""];
if (values.help || !chosen) {
  console.log(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else {
  const { drill } = await chosen.load();
  process.exitCode = (await drill({ ...numbersIn(values), folder: values.folder })) ? 0 : 1;
}
