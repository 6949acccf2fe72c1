import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HEAD_MS, type Head, learn, olderThanNewest, place, remember } from "../../src/queue/commands/heads.ts";

/** Creates heads in arrival order. `B<A` means that B replaced A; without `<A` the previous head is unknown. */
const heads = (...texts: string[]): Head[] =>
  texts.map((text, index) => ({ ...pushed(text), buildId: `b${index + 1}`, number: index + 1, at: 0 }));

const pushed = (text: string) => {
  const [sha = "", before = null] = text.split("<");
  return { sha, before };
};

const placed = (known: string[], text: string): string => {
  const found = place(heads(...known), pushed(text));
  if (found.kind === "same") return `same as ${found.head.buildId}`;
  return found.kind === "new" && !found.isCertain ? "new, perhaps" : found.kind;
};

describe("an arriving head", () => {
  it.each<[known: string[], arriving: string, expected: string]>([
    [[], "A", "new"],
    [["A"], "B<A", "new"],
    // A push and its pull request's event, which may not name the previous head.
    [["B<A"], "B<A", "same as b1"],
    [["B<A"], "B", "same as b1"],
    [["B"], "B<A", "same as b1"],
    [["A"], "A", "same as b1"],
    // The same commit after a different one is a different push.
    [["B<A"], "B<X", "new"],
    // A newer head replaced it before it arrived.
    [["A", "C<B"], "B<A", "late"],
    [["A", "C<B"], "B", "late"],
    [["A", "B<A", "C<B"], "B<A", "late"],
    [["A", "B<A"], "A", "late"],
    // A return to an earlier commit, and repeats of its events.
    [["A", "B<A"], "A<B", "new, perhaps"],
    [["A<X", "B<A"], "A<lost", "new, perhaps"],
    [["B<A", "D<C"], "A<D", "new, perhaps"],
    [["A", "B<A", "D<C"], "A<D", "late"],
    [["A", "B<A", "A<B"], "A<B", "same as b3"],
    [["A", "B<A", "A<B"], "A", "same as b3"],
    [["A", "B<A", "A<B"], "B<A", "new, perhaps"],
    [["A", "B<A", "A<B", "B<A"], "B<A", "same as b4"],
    // A move to the same commit, as the host reports it, does not name the previous head.
    [["B<A"], "B<B", "same as b1"],
  ])("after %s: %s is %s", (known, arriving, expected) => {
    expect(placed(known, arriving)).toBe(expected);
  });
});

describe("the links from an arriving head", () => {
  it("add the previous head to a known one", () => {
    expect(learn(heads("B"), pushed("B<A"), 5)).toEqual([{ ...heads("B")[0], before: "A" }]);
  });

  it("include a late head between its neighbors", () => {
    const late = { sha: "B", before: "A", buildId: null, number: 0, at: 5 };
    expect(learn(heads("A", "C<B"), pushed("B<A"), 5)).toEqual([...heads("A", "C<B"), late]);
  });

  it.each(["B<A", "B", "B<B"])("do not change with %s", (text) => {
    const known = heads("B<A");
    expect(learn(known, pushed(text), 5)).toBe(known);
  });
});

describe("the stored heads", () => {
  it("are the newest 20 of the last four days", () => {
    const old: Head = { sha: "old", before: null, buildId: "b0", number: 1, at: 0 };
    let known: Head[] = [old];
    for (let n = 1; n <= 30; n++) known = remember(known, { ...old, sha: `s${n}`, at: HEAD_MS - 1 });
    expect(known).toHaveLength(20);
    expect(known.at(0)?.sha).toBe("s11");
    expect(remember([old], { ...old, sha: "new", at: HEAD_MS }).map(({ sha }) => sha)).toEqual(["new"]);
  });
});

const older = (known: string[], sha: string): string | null => {
  const found = olderThanNewest(heads(...known), { sha });
  return found && `${found.newest.sha}: ${found.older.map((head) => head.sha).join(" ")}`;
};

describe("heads that a newer one supersedes", () => {
  it.each<[known: string[], arrived: string, expected: string | null]>([
    [["A", "B<A", "C<B"], "C", "C: B A"],
    [["A", "C<B"], "C", "C: "],
    // A late head links the others. The newest of them counts, not the last to arrive.
    [["A", "C<B", "B<A"], "B", "C: B A"],
    // The order is unknown.
    [["A", "B<A", "A<B"], "A", null],
    [["A", "B<A", "A<B", "C<A"], "C", "C: "],
    [["A<C", "B<A", "C<B"], "B", null],
    [["B<A", "C<A"], "B", "B: "],
  ])("%s: %s arrived, and ends %s", (known, arrived, expected) => {
    expect(older(known, arrived)).toBe(expected);
  });
});

describe("pushes of distinct commits", () => {
  const order = fc.uniqueArray(fc.nat({ max: 8 }), { minLength: 1, maxLength: 9 });

  /** Pushes 0, 1, 2 ... each name the previous one. @returns the pushes with a build, and those whose build ended */
  const arriveInOrder = (arrivals: number[]) => {
    let known: readonly Head[] = [];
    const built = new Set<number>();
    const ended = new Set<number>();
    const end = (sha: string) => {
      for (const { buildId } of olderThanNewest(known, { sha })?.older ?? []) if (buildId) ended.add(Number(buildId));
    };
    for (const n of arrivals) {
      const head = { sha: `s${n}`, before: n === 0 ? null : `s${n - 1}` };
      const found = place(known, head);
      if (found.kind === "new") {
        built.add(n);
        known = remember(known, { ...head, buildId: String(n), number: n, at: 0 });
      } else known = learn(known, head, 0);
      end(head.sha);
    }
    return { built, ended };
  };

  it("create one build each unless the next one certainly arrived first, in any order and with any loss", () => {
    fc.assert(
      fc.property(order, (arrivals) => {
        const { built } = arriveInOrder(arrivals);
        const expected = arrivals.filter((n, index) => {
          const [previous, next] = [n - 1, n + 1].map((other) => arrivals.slice(0, index).indexOf(other));
          return next === -1 || previous! > next!;
        });
        expect([...built].sort()).toEqual(expected.sort());
      }),
    );
  });

  it("always leave the newest build, and only that one if none is lost and at most two neighbors are swapped", () => {
    fc.assert(
      fc.property(order, (arrivals) => {
        const { built, ended } = arriveInOrder(arrivals);
        const newest = Math.max(...arrivals);
        expect(ended.has(newest)).toBe(false);
        const all = Array.from({ length: newest + 1 }, (_, n) => n);
        const isNearOrder = arrivals.every((n, index) => n >= Math.max(...arrivals.slice(0, index + 1)) - 1);
        if (isNearOrder && all.every((n) => arrivals.includes(n)))
          expect([...built].filter((n) => !ended.has(n))).toEqual([newest]);
      }),
    );
  });
});
