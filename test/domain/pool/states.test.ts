import { expect, it } from "vitest";
import { apply } from "../../../src/domain/pool/apply.ts";
import { explain } from "../../../src/domain/pool/explain.ts";
import { RULES } from "../../../src/domain/pool/rules.ts";
import { decide } from "../../../src/domain/pool/step.ts";
import { type BuildStatus, nextStates, STATUSES } from "../../../src/protocol/build-states.ts";
import { History } from "../../simulate/history.ts";
import type { Observer } from "../../simulate/observer.ts";
import { ACTOR, TestPool } from "./test-pool.ts";

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

it("keeps a build in a state that only a later release knows, and the queue behind it", () => {
  const pool = new TestPool();
  const agent = pool.agent();
  const [unknown, next] = [pool.build(), pool.build()];
  const { state, context, storage } = pool.model;
  const build = { ...storage.rows.builds.get(unknown)!, status: "blocked" as BuildStatus };
  apply(state, [{ kind: "build", build }]);
  const job = state.jobs.get(unknown)!;
  expect(explain(state, build, job, { ...context, now: pool.now }, () => 0).message).toBe("It is blocked.");
  const now = { ...context, now: pool.now };
  const canceled = decide(state, "cancel", { buildId: unknown, actor: ACTOR }, now);
  expect(canceled).toMatchObject({ answer: { ok: true }, changes: [] });
  const claimed = decide(state, "claim", { ...agent.credentials, bootId: null }, now);
  expect(claimed.answer).toMatchObject({ ok: true, value: { buildId: next } });
});
