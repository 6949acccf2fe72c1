import { isEnded } from "../../../src/protocol/build-states.ts";
import { planRerun } from "../../../src/queue/jobs/rerun.ts";
import { JOB_RULES, type JobRules } from "../../../src/queue/jobs/rules.ts";
import { Random } from "../../simulate/random.ts";
import { Broken, checkSemaphores, must, runsAgain, Watcher } from "./laws.ts";
import type { Happening, TestBuild } from "./test-build.ts";
import { World } from "./world.ts";

const EVENTS = 40;
/** Enough steps: each job needs at most one decision, one lease and one finish. */
const CALM = 200;

/** Checks that a retry adopts the succeeded and skipped jobs, and runs the rest. */
const checkRerun = (build: TestBuild, rules: JobRules): void => {
  const jobs = Object.fromEntries([...build.jobs].map(([id, { end = null }]) => [id, { end, outputs: {} }]));
  const again = { ...build.graph, jobs: build.graph.jobs.map((job) => ({ ...job, id: `again ${job.id}` })) };
  const adopted = planRerun({ buildId: "old", graph: build.graph, jobs }, again, rules);
  const reruns = runsAgain(build);
  for (const { id, key } of again.jobs)
    must("J10", reruns.has(key) !== Object.hasOwn(adopted, id), `${key} is ${reruns.has(key) ? "" : "not "}adopted`);
};

/** Plays one history. @throws {Broken} */
const play = (seed: number, rules: JobRules = JOB_RULES, forgets: Happening | null = null): void => {
  const world = new World(new Random(seed, 0), rules, forgets);
  const watchers = world.builds.map((build) => new Watcher(build));
  const look = (): void => {
    for (const watcher of watchers) watcher.look();
    checkSemaphores(world);
  };
  look();
  for (let at = 0; at < EVENTS; at++) {
    world.happen();
    look();
  }
  for (let at = 0; at < CALM && world.calm(); at++) look();
  for (const build of world.builds) {
    must("J17", isEnded(build.status), "a build did not end in a calm world");
    checkRerun(build, rules);
  }
};

/** Returns the first of these histories that breaks a law, or null. */
export const firstBroken = (
  histories: number,
  rules: JobRules = JOB_RULES,
  forgets: Happening | null = null,
): { seed: number; broken: Broken } | null => {
  for (let seed = 0; seed < histories; seed++)
    try {
      play(seed, rules, forgets);
    } catch (error) {
      if (error instanceof Broken) return { seed, broken: error };
      throw new Error(`seed ${seed}`, { cause: error });
    }
  return null;
};
