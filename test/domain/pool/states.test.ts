import { expect, it } from "vitest";
import { RULES } from "../../../src/domain/pool/rules.ts";
import { nextStates, STATUSES } from "../../../src/protocol/build-states.ts";
import { History } from "../../simulate/history.ts";
import type { Observer } from "../../simulate/observer.ts";

const SEED = 1;
const HISTORIES = 400;

/* The simulation checks after every commit that a build takes no other transition (docs/invariants.md, number 4). */
it("moves builds along every edge of the table", () => {
  const unseen = new Set(STATUSES.flatMap((from) => nextStates(from).map((to) => `${from} -> ${to}`)));
  const observer: Observer = {
    onCommit(changes, storage) {
      for (const change of changes) {
        if (change.kind !== "build") continue;
        const before = storage.rows.builds.get(change.build.id);
        if (before) unseen.delete(`${before.status} -> ${change.build.status}`);
      }
    },
  };
  for (let index = 0; index < HISTORIES && unseen.size > 0; index++) new History(SEED, index, RULES, observer).run();
  expect([...unseen]).toEqual([]);
});
