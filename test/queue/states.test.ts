import { expect, it } from "vitest";
import { RULES } from "../../src/queue/state/rules.ts";
import { History } from "../simulate/history.ts";
import type { Observer } from "../simulate/observer.ts";
import { TRANSITIONS } from "../simulate/specification.ts";

const SEED = 1;
const HISTORIES = 400;

/* The simulation checks after every commit that a job takes no other transition (docs/invariants.md, number 4). */
it("jobs move along every edge of the specification", () => {
  const unseen = new Set(Object.entries(TRANSITIONS).flatMap(([from, next]) => next.map((to) => `${from} -> ${to}`)));
  const observer: Observer = {
    onCommit(changes, storage) {
      for (const change of changes) {
        if (change.kind !== "job") continue;
        const before = storage.rows.jobs.get(change.job.id);
        if (before) unseen.delete(`${before.status} -> ${change.job.status}`);
      }
    },
  };
  for (let index = 0; index < HISTORIES && unseen.size > 0; index++) new History(SEED, index, RULES, observer).run();
  expect([...unseen]).toEqual([]);
});
