import { expect, it } from "vitest";
import type { BuildFacts } from "../../../src/domain/pool/facts.ts";
import { RULES } from "../../../src/domain/pool/rules.ts";
import { nextStates, STATUSES } from "../../../src/protocol/build-states.ts";
import { History } from "../../simulate/history.ts";
import type { Onlooker } from "../../simulate/pool.ts";

const SEED = 1;
const HISTORIES = 400;

/* That a build makes no other move is a law of the simulation, which checks every commit. */
it("moves builds along every edge of the table", () => {
  const unseen = new Set(STATUSES.flatMap((from) => nextStates(from).map((to) => `${from} -> ${to}`)));
  for (let index = 0; index < HISTORIES && unseen.size > 0; index++) {
    const known = new Map<string, BuildFacts>();
    const look: Onlooker = (_now, _verb, _input, _answer, { disk }) => {
      for (const build of disk.rows.builds.values()) {
        const before = known.get(build.id);
        // A restore from a backup is no move, and brings an older version.
        if (before && build.version > before.version) unseen.delete(`${before.status} -> ${build.status}`);
        known.set(build.id, build);
      }
    };
    new History(SEED, index, RULES, look).run();
  }
  expect([...unseen]).toEqual([]);
});
