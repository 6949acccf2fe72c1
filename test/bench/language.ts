import { unknownVariables } from "../../src/pipeline/parse/known-variables.ts";
import { parsePlan } from "../../src/pipeline/parse/parse.ts";
import { INITIAL_JOB_STATE, type JobContext } from "../../src/pipeline/prepare/job-context.ts";
import { prepareStep } from "../../src/pipeline/prepare/prepare-step.ts";
import { GROWING, LARGE_TEXTS, LARGE_TREES } from "../pipeline/support/largest-files.ts";
import { readInHeap } from "../pipeline/support/read-in-heap.ts";
import { BY_REQUEST } from "../support/build-facts.ts";
import { ms, quantile } from "./support/statistics.ts";

const STEPS = 200;
const VARIABLES = 100;
const ROUNDS = 50;

const step = (index: number): string => `
  - id: step-${index}
    name: Step ${index} on \${{ build.branch }}
    if: success() && (vars.V${index % VARIABLES} != 'skip' || contains(fromJSON('["a", "b"]'), V0))
    env: { LOCAL: "\${{ V1 }}-\${{ secrets.TOKEN }}" }
    run: |
      echo "Building \${{ build.branch }} at \${{ build.commit }}" 'as is'
      cat > notes.txt <<END
      \${{ format('{0} of {1}', build.number, repository.fullName) }}
      END
      make -j4 TARGET=\${{ V${index % VARIABLES} }} LOCAL="$LOCAL"
`;

const env = Object.fromEntries(Array.from({ length: VARIABLES }, (_, index) => [`V${index}`, `value ${index}`]));
const FACTS: JobContext = {
  env: { ...env, TOKEN: "a secret value" },
  secretKeys: ["TOKEN"],
  runKeys: [],
  build: { id: "b", number: 1, branch: "main", commit: "c0ffee", message: "m", attempt: 1, ...BY_REQUEST },
  repository: { id: "r", fullName: "acme/app", cloneUrl: "https://host/app.git" },
  agent: { id: "a", name: "agent", platform: "linux" },
};

/** Returns each round's milliseconds, after a few rounds to warm up. */
const timed = (work: () => void): number[] =>
  Array.from({ length: ROUNDS + 10 }, () => {
    const begun = performance.now();
    work();
    return performance.now() - begun;
  }).slice(10);

/** Heap limits to try, in megabytes. The first suffices for an empty file and everything that the process loads. */
const HEAPS = [12, 16, 20, 24, 28, 32, 40, 48, 56, 64];
const ROOM = 1024;

/** Returns the smallest heap limit with which the process can read the file. */
const leastHeap = async (file: string, way: "plan" | "yaml"): Promise<number | null> => {
  let [low, high] = [0, HEAPS.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((await readInHeap([file], way, HEAPS[middle]!)).length === 0) low = middle + 1;
    else high = middle;
  }
  return HEAPS[low] ?? null;
};

/** Compares the largest files around each limit with the YAML library alone, each in a new process. */
const benchLimits = async (): Promise<void> => {
  console.log("the largest files, cold, beside the YAML library alone (time, heap including loaded modules):");
  for (const [name, file] of Object.entries({ ...LARGE_TREES, ...LARGE_TEXTS, ...GROWING })) {
    const figures = async (way: "plan" | "yaml") =>
      `${ms((await readInHeap([file], way, ROOM))[0] ?? Number.NaN)} ${(await leastHeap(file, way)) ?? "over 64"} MB`;
    const size = `${(file.length / 1024).toFixed(0)} KiB`;
    console.log(`  ${name} (${size}): ${await figures("plan")}, YAML ${await figures("yaml")}`);
  }
};

/** Measures a file with 200 steps, from its text to each step's environment, and the limits. */
export const benchLanguage = async (): Promise<void> => {
  const file = `env: { A: "\${{ V1 }}" }\nsteps:${Array.from({ length: STEPS }, (_, index) => step(index)).join("")}`;
  const { plan, mistakes } = parsePlan(file);
  if (!plan) throw new Error(JSON.stringify(mistakes));
  const known = { vars: Object.keys(env), secrets: ["TOKEN"] };
  const figures: [string, () => void][] = [
    ["parse and check", () => parsePlan(file)],
    ["check names against 101 variables", () => unknownVariables(plan, known)],
    [
      "evaluate every step",
      () => plan.job.steps.forEach((_, index) => void prepareStep(plan, index, FACTS, INITIAL_JOB_STATE)),
    ],
  ];
  console.log(`a pipeline file of ${STEPS} steps, ${(file.length / 1024).toFixed(0)} KiB:`);
  for (const [name, work] of figures) {
    const times = timed(work);
    console.log(`  ${name}: p50 ${ms(quantile(times, 0.5))}  p99 ${ms(quantile(times, 0.99))}`);
  }
  await benchLimits();
};

if (import.meta.main) await benchLanguage();
