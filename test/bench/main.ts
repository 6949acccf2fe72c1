import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** Each benchmark is a separate program, so that none warms up another. */
const BENCHES: Record<string, string> = {
  api: "requests per second of single operations, beside a bare Worker; D1 round trips, bundle size, start-up",
  artifacts: "an artifact to the archive and back, beside curl to a bare Worker",
  checkout: "the agent's checkout, beside plain git",
  costs: "what agents and builds cost on Cloudflare: the tables of docs/costs.md",
  dashboard: "each page, beside the API call behind it; its D1 round trips and kilobytes",
  "first-line": "time from the trigger, and from a push, until a follower gets the first line; one build's timeline",
  gate: "rows that no change may make worse, compared with the last release; about four minutes",
  flood: "an agent's heartbeats while another agent floods its sockets",
  hook: "git host deliveries, beside a bare Worker; the largest; forged ones",
  jobs: "256 jobs in one build, beside a bare Worker; time from a needed job's end to the next job's first line",
  language: "parsing, checking and evaluating pipeline files, up to the largest",
  "log-view": "lost frames and long tasks while a log streams or scrolls; a long log's end over a slow line",
  mask: "masking, beside replaceAll and a plain copy",
  throughput: "complete builds per second, beside a bare Worker",
  waiting: "1,000 waiting agents: memory, time to a hint or a job, queries",
};

const USAGE = `npm run bench [-- NAME...]   runs these benchmarks, or all:
${Object.entries(BENCHES)
  .map(([name, description]) => `  ${name.padEnd(12)} ${description}`)
  .join("\n")}

"Floor" is the platform's minimum cost: a Worker that does only the same calls, measured in turns with
the service in the same run. Compare ratios, not times: these depend on the machine.`;

const args = process.argv.slice(2);
const wanted = args.filter((arg) => !arg.startsWith("--"));
/** Options for the benchmarks. They precede the benchmarks' names. */
const options = args.filter((arg) => arg.startsWith("--"));
const isHelp = wanted.length === 0 && options.includes("--help");
if (isHelp || wanted.some((name) => !(name in BENCHES))) {
  console.log(USAGE);
  process.exit(isHelp ? 0 : 2);
}

const failed = Object.keys(BENCHES)
  .filter((name) => wanted.length === 0 || wanted.includes(name))
  .filter((name) => {
    console.log(`\n== ${name}`);
    const program = [join(import.meta.dirname, `${name}.ts`), ...options];
    return spawnSync(process.execPath, program, { stdio: "inherit" }).status !== 0;
  });
for (const name of failed) console.error(`The benchmark ${name} failed.`);
process.exit(failed.length > 0 ? 1 : 0);
