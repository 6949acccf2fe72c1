import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failingSince, type Run } from "../../../src/domain/history/failing-since.ts";

const idOf = (number: number): string => String(number).padStart(4, "0");

/** A push of a commit: `push(2, "B", "failed")`. */
const push = (number: number, commitSha: string | null, status: Run["status"], more: Partial<Run> = {}): Run => ({
  ...{ id: idOf(number), event: "push", commitSha, status, retryOf: null },
  ...more,
});
const retry = (number: number, of: number, commitSha: string | null, status: Run["status"]): Run =>
  push(number, commitSha, status, { retryOf: idOf(of) });

/** Returns the number of the first failed build, and the rest of the answer. */
const blame = (...runs: Run[]) => {
  const found = failingSince(runs.toReversed());
  return found && { ...found, first: Number(found.first.id) };
};

const GREEN = push(1, "A", "succeeded");
const RED = [GREEN, push(2, "B", "failed"), push(3, "C", "failed"), push(4, "D", "failed")];
const SINCE_2 = { first: 2, builds: 3, commits: 3, isCertain: true, hasPassed: false };

describe("the start of a pipeline's failure", () => {
  it("is the first failure after the last success, not the newest", () => {
    expect(blame(...RED)).toEqual(SINCE_2);
    expect(blame(...RED, push(5, "E", "succeeded"))).toBe(null);
    expect(blame(GREEN)).toBe(null);
    expect(blame()).toBe(null);
  });

  it("does not move when failed builds are retried repeatedly", () => {
    expect(blame(...RED, retry(5, 4, "D", "failed"), retry(6, 5, "D", "failed"))).toEqual(SINCE_2);
    expect(blame(...RED, retry(5, 2, "B", "failed"))).toEqual(SINCE_2);
  });

  it("moves to the next commit when the first one passes on a retry: it was flaky", () => {
    const since3 = { ...SINCE_2, first: 3, builds: 2, commits: 2 };
    expect(blame(...RED, retry(5, 2, "B", "succeeded"))).toEqual(since3);
    expect(blame(...RED, retry(5, 4, "D", "succeeded"))).toBe(null);
  });

  it("does not move when an old commit is rebuilt by a retry or a request", () => {
    expect(blame(...RED, retry(5, 1, "A", "succeeded"))).toEqual(SINCE_2);
    expect(blame(...RED, push(5, "A", "succeeded", { event: "api" }))).toEqual(SINCE_2);
    // The branch was reset to the commit.
    expect(blame(...RED, push(5, "A", "succeeded"))).toBe(null);
    expect(blame(...RED, push(5, "A", "succeeded"), retry(6, 4, "D", "failed"))).toBe(null);
  });

  it("does not blame a commit that had passed: the same commit fails at night", () => {
    const night = push(2, "A", "failed", { event: "schedule" });
    const passed = { first: 2, builds: 1, commits: 1, isCertain: true, hasPassed: true };
    expect(blame(GREEN, night)).toEqual(passed);
    expect(blame(GREEN, night, push(3, "A", "failed", { event: "schedule" }))).toEqual({ ...passed, builds: 2 });
    expect(blame(GREEN, retry(2, 1, null, "failed"))).toMatchObject({ first: 2, commits: null, hasPassed: true });
  });

  it("ignores canceled and untrusted builds, but is uncertain if such a commit may have been the first", () => {
    const untrusted = push(2, "B", "failed", { isUntrusted: true });
    expect(blame(GREEN, untrusted)).toBe(null);
    const after = { first: 3, builds: 1, commits: 1, hasPassed: false };
    expect(blame(GREEN, untrusted, push(3, "C", "failed"))).toEqual({ ...after, isCertain: false });
    expect(blame(GREEN, push(2, "B", "canceled"), push(3, "C", "failed"))).toEqual({ ...after, isCertain: false });
    expect(blame(GREEN, push(2, "A", "canceled"), push(3, "C", "failed"))).toEqual({ ...after, isCertain: true });
    expect(blame(...RED, push(5, "E", "canceled"))).toEqual(SINCE_2);
  });

  it("is uncertain without a known success, and does not count commits if one is unknown", () => {
    expect(blame(...RED.slice(1))).toEqual({ ...SINCE_2, isCertain: false });
    const { id, status } = push(5, null, "failed");
    expect(blame(...RED, { id, status })).toEqual({ ...SINCE_2, builds: 4, commits: null });
    // Retries of unknown builds come before everything else.
    expect(blame(retry(7, 5, "D", "failed"))).toMatchObject({ first: 7, isCertain: false });
    expect(blame(push(6, "E", "succeeded"), retry(7, 5, "D", "failed"))).toBe(null);
  });

  it("differs by job if different jobs fail, and ignores jobs that did not run", () => {
    const jobs = [
      { unit: "succeeded", lint: "succeeded" },
      { unit: "failed", lint: "succeeded" },
      { unit: "succeeded", lint: "failed" },
      { unit: "canceled", lint: "failed" },
    ] as const;
    const of = (job: "unit" | "lint") => blame(...jobs.map((each, at) => push(at + 1, `c${at}`, each[job])));
    expect([of("unit"), of("lint")?.first]).toEqual([null, 3]);
    const whole = jobs.map((each) => (Object.values(each).includes("failed" as never) ? "failed" : "succeeded"));
    expect(blame(...whole.map((status, at) => push(at + 1, `c${at}`, status)))?.first).toBe(2);
  });
});

const spec = fc.record({
  status: fc.constantFrom("succeeded" as const, "failed" as const, "failed" as const, "canceled" as const),
  event: fc.constantFrom("push" as const, "push" as const, "schedule" as const, "api" as const),
  commit: fc.option(fc.constantFrom("A", "B", "C", "D"), { freq: 8 }),
  /** How many builds earlier the build is that it retries; 0 if it is not a retry. */
  repeats: fc.constantFrom(0, 0, 0, 1, 2, 5),
  isUntrusted: fc.constantFrom(false, false, false, true),
});

/** Builds of one ref, oldest first. The first ones may be retries of unknown builds. */
const someRuns = fc.array(spec, { maxLength: 14 }).map((specs) =>
  specs.map(({ status, event, commit, repeats, isUntrusted }, at): Run => {
    const retryOf = repeats === 0 ? null : idOf(10 + at - repeats);
    return { id: idOf(10 + at), status, event, commitSha: commit, retryOf, isUntrusted };
  }),
);

/** One slot for each commit on the branch. A retry goes into the slot of the build that it repeats. */
const modelOf = (runs: Run[]) => {
  const known = new Set(runs.map(({ id }) => id));
  const lost = new Set(runs.flatMap(({ retryOf }) => (retryOf && !known.has(retryOf) ? [retryOf] : [])));
  const slots: { ids: string[]; runs: Run[] }[] = [...lost].sort().map((id) => ({ ids: [id], runs: [] }));
  for (const run of runs) {
    const isOfCommit = (one: Run) => !one.retryOf && one.commitSha === run.commitSha;
    const slot = run.retryOf
      ? slots.find(({ ids }) => ids.includes(run.retryOf ?? ""))
      : run.event === "api" && run.commitSha
        ? slots.findLast((each) => each.runs.some(isOfCommit))
        : undefined;
    const into = slot ?? { ids: [], runs: [] };
    if (!slot) slots.push(into);
    into.ids.push(run.id);
    into.runs.push(run);
  }
  const line = slots.flatMap((slot) => slot.runs.map((run) => ({ run, slot })));
  const failed: typeof line = [];
  const skipped: typeof line = [];
  for (const one of line.toReversed()) {
    if (one.run.status === "canceled" || one.run.isUntrusted) skipped.push(one);
    else if (one.run.status === "succeeded") return { failed, skipped, green: one };
    else {
      failed.unshift(one);
      skipped.length = 0;
    }
  }
  return { failed, skipped, green: null };
};

describe("the start of any builds' failure", () => {
  it("agrees with a slow model", () => {
    let answers = 0;
    fc.assert(
      fc.property(someRuns, (runs) => {
        const found = failingSince(runs);
        const { failed, skipped, green } = modelOf(runs);
        expect(found?.first).toBe(failed[0]?.run);
        if (!found) return;
        answers += 1;
        const [{ slot, run }] = failed as [(typeof failed)[number]];
        const isOf = (one: (typeof failed)[number], other: (typeof failed)[number]) =>
          one.slot === other.slot || (one.run.commitSha !== null && one.run.commitSha === other.run.commitSha);
        const gap = skipped.filter((one) => green && !isOf(one, green) && !isOf(one, { slot, run }));
        expect(found.isCertain).toBe(green !== null && gap.length === 0);
        expect(found.builds).toBe(new Set(failed.map((one) => one.slot)).size);
        const commits = failed.map((one) => one.run.commitSha);
        expect(found.commits).toBe(commits.includes(null) ? null : new Set(commits).size);
        const passed = runs.filter(({ status, isUntrusted }) => status === "succeeded" && !isUntrusted);
        const isFirst = (one: Run) =>
          slot.runs.includes(one) || (one.commitSha !== null && one.commitSha === run.commitSha);
        expect(found.hasPassed).toBe(passed.some(isFirst));
      }),
      { numRuns: 500 },
    );
    expect(answers).toBeGreaterThan(100);
  });

  it("does not depend on the order of builds or on later canceled ones", () => {
    fc.assert(
      fc.property(someRuns, fc.infiniteStream(fc.double({ noNaN: true })), (runs, random) => {
        const shuffled = runs.map((run) => ({ run, at: random.next().value })).toSorted((a, b) => a.at - b.at);
        const answer = failingSince(runs);
        expect(failingSince(shuffled.map(({ run }) => run))).toEqual(answer);
        expect(failingSince([...runs, push(99, "E", "canceled")])).toEqual(answer);
        expect(failingSince([...runs, push(99, "E", "failed", { isUntrusted: true })])).toEqual(answer);
      }),
    );
  });

  it("does not move with failed retries; a failed push adds one, and a successful push ends it", () => {
    fc.assert(
      fc.property(someRuns, fc.nat(), (runs, choice) => {
        const answer = failingSince(runs);
        const { failed } = modelOf(runs);
        const one = failed[choice % Math.max(1, failed.length)]?.run;
        if (one) {
          const again = { ...one, id: idOf(99), event: "push" as const, retryOf: one.id };
          expect(failingSince([...runs, again])).toEqual(answer);
        }
        const pushed = push(99, "E", "failed");
        expect(failingSince([...runs, pushed])?.builds).toBe((answer?.builds ?? 0) + 1);
        expect(failingSince([...runs, pushed])?.first).toBe(answer?.first ?? pushed);
        expect(failingSince([...runs, push(99, "E", "succeeded")])).toBe(null);
      }),
    );
  });
});
