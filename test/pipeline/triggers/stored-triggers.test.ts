import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { readSnapshot, snapshotAfter } from "../../../src/githosts/core/file-snapshot.ts";
import { parseTriggers } from "../../../src/pipeline/triggers/stored-triggers.ts";
import {
  DEFAULT_TRIGGERS,
  onProblems,
  readOn,
  readWrittenOn,
  triggerWords,
} from "../../../src/pipeline/triggers/triggers.ts";
import { PipelineOn } from "../../../src/protocol/pipeline.ts";
import { readTriggers } from "../../../src/services/repositories/pipeline-files.ts";
import { ons } from "../../githosts/support/arrivals.ts";

const STEPS = "steps: [{ run: make }]\n";
const READ = { hash: "h", number: 3, commitSha: "c", at: "2026-01-01T00:00:00.000Z" };

/** Values that people write below `on`, most of them right. */
const patterns = fc.array(
  fc.oneof(
    fc.stringMatching(/^[a-z*?/!.-]{0,6}$/),
    fc.constantFrom("main", "**", "!docs/**", "v[0-9]", "/a", "a/", "a".repeat(251), "\u0000", "refs/heads/x"),
  ),
  { maxLength: 3 },
);
const event = (conditions: Record<string, fc.Arbitrary<unknown>>) =>
  fc.oneof(fc.constant(true), fc.constant(false), fc.record(conditions, { requiredKeys: [] }));
const written = fc.record(
  {
    push: event({ branches: patterns, paths: patterns }),
    tag: event({ names: patterns, extra: fc.constant(1) }),
    pull: event({ base: patterns, paths: patterns, drafts: fc.boolean(), labels: patterns }),
    "merge-group": fc.boolean(),
  },
  { requiredKeys: [] },
);

describe("an `on` in a pipeline's record", () => {
  it("is accepted if a file may have it, and means the same", () => {
    let taken = 0;
    fc.assert(
      fc.property(written, (on) => {
        const inFile = parseTriggers(stringify({ on, steps: [{ run: "make" }] })).value;
        const { data } = PipelineOn.safeParse(on);
        const isTaken = data !== undefined && onProblems(data).length === 0;
        taken += Number(isTaken);
        expect(isTaken).toBe(inFile !== undefined);
        if (isTaken) expect(readOn(data)).toEqual(inFile?.on);
      }),
      { numRuns: 1_500 },
    );
    expect(taken).toBeGreaterThan(20);
  });
});

describe("the stored triggers of a pipeline", () => {
  it("never throw, and are the defaults if they cannot be read", () => {
    const anything = fc.oneof(fc.jsonValue(), fc.anything(), fc.constant(null)) as fc.Arbitrary<never>;
    fc.assert(
      fc.property(anything, anything, anything, (on, supersede, fileSnapshot) => {
        const read = readTriggers({ on, supersede, fileSnapshot });
        if (readSnapshot(fileSnapshot)) return;
        expect(read.on).toEqual((on && readWrittenOn(on)) ?? DEFAULT_TRIGGERS.on);
        expect(read.schedule).toEqual([]);
      }),
    );
  });

  it("are the record's, or the file's if the record has none", () => {
    const fileSnapshot = snapshotAfter(null, { ...READ, text: `on: { tag: true }\nsupersede: all\n${STEPS}` });
    const tags = { push: null, tag: { names: null }, pull: null, mergeGroup: false };
    expect(readTriggers({ on: null, supersede: "file", fileSnapshot })).toMatchObject({ on: tags, supersede: "all" });
    const own = readTriggers({ on: { push: true }, supersede: "none", fileSnapshot });
    expect(own).toMatchObject({ on: { push: { branches: null }, tag: null }, supersede: "none" });
  });

  it("come back from the database unchanged", () => {
    fc.assert(
      fc.property(ons, (on) => {
        const snapshot = { ...snapshotAfter(null, { ...READ, text: STEPS }), on };
        expect(readSnapshot(JSON.parse(JSON.stringify(snapshot)))).toEqual(snapshot);
        expect(triggerWords(on)).toMatch(/./);
      }),
    );
  });

  it("keep the text before one with mistakes, and forget a deleted one", () => {
    const good = snapshotAfter(null, { ...READ, text: `supersede: all\n${STEPS}` });
    const wrong = snapshotAfter(good, { ...READ, hash: "h2", number: 4, commitSha: "d", text: "on: 1\n" });
    expect(wrong).toEqual({ ...good, hash: "h2", number: 4, mistake: expect.stringMatching(/^1:/) });
    const gone = snapshotAfter(wrong, { ...READ, text: "", number: 5 });
    expect(gone).toMatchObject({ ...DEFAULT_TRIGGERS, isRead: false, commitSha: null, mistake: null, number: 5 });
  });
});
