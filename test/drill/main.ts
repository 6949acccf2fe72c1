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
      "pushes 3,000 times to a host that refuses the token, then once more, and counts what goes before that",
    load: () => import("./backlog.ts"),
  },
  day: {
    description:
      "lets a day of 5,000 builds pass on a clock that jumps, with D1 overloaded and R2 away, and counts what is lost",
    load: () => import("./day.ts"),
  },
  heap: {
    description: "wakes a pool of 5,000 agents and 15,000 builds, and asks the inspector for its heap",
    load: () => import("./heap.ts"),
  },
  importer: {
    description: "imports all workflows below a folder (--folder DIR), and counts what becomes of them",
    load: () => import("./importer.ts"),
  },
  jobs: {
    description: "runs 20 builds of 13 jobs on three agents, which are killed at chance moments and start again",
    load: () => import("./jobs.ts"),
  },
  leave: {
    description:
      "deletes an organization with a build under way, ends the service meanwhile, and searches what is left",
    load: () => import("./leave.ts"),
  },
  nodes: {
    description: "runs the bundled agent on the oldest Node that it supports, the newest of each line, and one too old",
    load: () => import("./nodes.ts"),
  },
  outage: {
    description: "pushes 120 times to a GitHub App's repository while the service is away, and counts what is built",
    load: () => import("./outage.ts"),
  },
  pictures: {
    description: "takes pictures of every page (into --folder DIR) at four widths in both themes, with what axe says",
    load: () => import("./pictures.ts"),
  },
  pushes: {
    description:
      "tells twice of 1,000 pushes each to a GitLab and a Gitea, and some to a GitHub, that are away meanwhile",
    load: () => import("./pushes.ts"),
  },
  restore: {
    description:
      "puts older files of D1, of the pool and of both back under a running service, and checks what then holds",
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
    description: "builds projects of npm, C and Java twice, and tells the seconds without and with a warm cache",
    load: () => import("./warm.ts"),
  },
};

const USAGE = `npm run drill -- NAME [--agents N] [--gib N] [--folder DIR]

Checks that take too long, or download too much, for the tests. Exit code 1: not as it should be. NAME is one of
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
