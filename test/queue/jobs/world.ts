import { JOB_RULES } from "../../../src/queue/jobs/rules.ts";
import { plannedSemaphores } from "../../../src/queue/state/semaphores.ts";
import type { Random } from "../../simulate/random.ts";
import { randomGraph } from "./random-graph.ts";
import { DAY, type Happening, TestBuild, type WrongRules } from "./test-build.ts";

const LEASED = ["assigned", "running", "canceling"];
export const isLeased = (status: string | undefined): boolean => LEASED.includes(status ?? "");

/** Some builds of one pipeline, their semaphores, and all events that can happen to them. */
export class World {
  readonly builds: TestBuild[];
  readonly maxParallel: number;
  readonly #random: Random;
  readonly #rules: WrongRules;

  constructor(random: Random, rules: WrongRules = JOB_RULES, forgets: Happening | null = null) {
    this.#random = random;
    this.#rules = rules;
    this.maxParallel = 1 + random.below(2);
    this.builds = Array.from({ length: 1 + random.below(3) }, () => new TestBuild(randomGraph(random), rules, forgets));
  }

  #semaphoresOf(build: TestBuild, jobId: string) {
    const job = build.graph.jobs.find(({ id }) => id === jobId)!;
    const { maxParallel } = this;
    const id = String(this.builds.indexOf(build));
    const semaphores = (this.#rules.semaphoresOf ?? plannedSemaphores)(job, {
      id,
      repoId: "r",
      pipelineId: "p",
      maxParallel,
    });
    return semaphores.map((semaphore) => ({
      ...semaphore,
      holder: semaphore.holder === id ? id : `${id}/${semaphore.holder}`,
    }));
  }

  /** Returns each semaphore's holders, and the limits that they name. */
  #occupied(): Map<string, { holders: Set<string>; limits: number[] }> {
    const semaphores = new Map<string, { holders: Set<string>; limits: number[] }>();
    for (const [at, build] of this.builds.entries()) {
      if (build.build.holdsPlace)
        this.#enter(semaphores, { key: "pipeline p", holder: String(at), limit: this.maxParallel });
      for (const [jobId, { status }] of build.queue)
        if (isLeased(status))
          for (const semaphore of this.#semaphoresOf(build, jobId).slice(1)) this.#enter(semaphores, semaphore);
    }
    return semaphores;
  }

  #enter(
    semaphores: Map<string, { holders: Set<string>; limits: number[] }>,
    { key, holder, limit }: { key: string; holder: string; limit: number },
  ): void {
    const semaphore = semaphores.get(key) ?? { holders: new Set(), limits: [] };
    semaphore.holders.add(holder);
    semaphore.limits.push(limit);
    semaphores.set(key, semaphore);
  }

  mayLease(build: TestBuild, jobId: string): boolean {
    const occupied = this.#occupied();
    return this.#semaphoresOf(build, jobId).every(({ key, holder, limit }) => {
      const { holders, limits } = occupied.get(key) ?? { holders: new Set<string>(), limits: [] };
      return (
        holders.has(holder) || holders.size < (this.#rules.limitOf?.([limit, ...limits]) ?? Math.min(limit, ...limits))
      );
    });
  }

  /** Returns all builds' jobs in one of these statuses. */
  #jobs(...statuses: string[]): { build: TestBuild; jobId: string }[] {
    return this.builds.flatMap((build) =>
      [...build.queue].flatMap(([jobId, { status }]) => (statuses.includes(status) ? [{ build, jobId }] : [])),
    );
  }

  #asking(): { build: TestBuild; jobId: string }[] {
    return this.builds.flatMap((build) =>
      [...build.jobs.values()].flatMap(({ id, gate, end }) =>
        gate && !gate.decision && !end && !build.queue.has(id) ? [{ build, jobId: id }] : [],
      ),
    );
  }

  readonly #events: Record<string, () => void> = {
    lease: () => {
      const free = this.#jobs("queued").filter(({ build, jobId }) => this.mayLease(build, jobId));
      if (free.length === 0) return;
      const { build, jobId } = this.#random.pick(free);
      build.lease(jobId, this.#random.chance(0.3) ? "assigned" : "running");
    },
    finish: () => {
      const leased = this.#jobs(...LEASED);
      if (leased.length === 0) return;
      const { build, jobId } = this.#random.pick(leased);
      const succeeds = this.#random.chance(0.65);
      if (succeeds && this.#random.chance(0.5)) build.outputs.set(jobId, { word: "yes" });
      build.finish(jobId, succeeds ? "succeeded" : "failed", succeeds ? 0 : 1 + this.#random.below(9));
    },
    lose: () => {
      const leased = this.#jobs(...LEASED);
      if (leased.length > 0) {
        const { build, jobId } = this.#random.pick(leased);
        build.lose(jobId);
      }
    },
    decide: () => {
      const asking = this.#asking();
      if (asking.length === 0) return;
      const { build, jobId } = this.#random.pick(asking);
      build.decide(jobId, this.#random.chance(0.7));
    },
    cancel: () => this.#random.pick(this.builds).cancel(),
    cancelJob: () => {
      const build = this.#random.pick(this.builds);
      const going = [...build.jobs.values()].filter(({ end }) => !end);
      if (going.length > 0) build.cancelJob(this.#random.pick(going).id);
    },
    wait: () => {
      const ms = this.#random.pick([
        1000,
        60_000,
        5 * 60_000,
        6 * 60_000,
        DAY / 24,
        DAY,
        2 * DAY - 30 * 60_000,
        3 * DAY,
        31 * DAY,
      ]);
      for (const build of this.builds) build.wait(ms);
    },
  };

  /** Plays a random event and returns its name. */
  happen(): string {
    const event = this.#random.weighted(
      [
        ["lease", 30],
        ["finish", 30],
        ["lose", 6],
        ["decide", 10],
        ["cancel", 2],
        ["cancelJob", 3],
        ["wait", 6],
      ],
      87,
    );
    this.#tick();
    this.#events[event]!();
    return event;
  }

  #tick(): void {
    for (const build of this.builds) build.now += 1;
  }

  /** Acts as agents for all jobs and as people who approve every gate. @returns whether a job could progress */
  calm(): boolean {
    this.#tick();
    const asking = this.#asking()[0];
    if (asking) asking.build.decide(asking.jobId, true);
    const leased = this.#jobs(...LEASED)[0];
    if (leased) leased.build.finish(leased.jobId, "succeeded", 0);
    const free = this.#jobs("queued").find(({ build, jobId }) => this.mayLease(build, jobId));
    if (free) free.build.lease(free.jobId);
    return !!(asking || leased || free);
  }
}
