import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { VALUE_WORDS } from "../../src/api/description/words/values.ts";
import { JobStatus } from "../../src/protocol/build-job.ts";
import {
  BUILD_STATES,
  type BuildStatus,
  ENDED,
  isActive,
  isEnded,
  isLeased,
  isQueued,
  LEASED,
  phaseOf,
  STATUSES,
} from "../../src/protocol/build-states.ts";
import { BUILD_TRANSITIONS } from "../simulate/job-specification.ts";
import * as specification from "../simulate/specification.ts";

const { TRANSITIONS } = specification;
const OF_A_JOB = JobStatus.options;
/** A first job starts in the queue. A planned job may wait. */
const FIRST: JobStatus[] = ["waiting", "queued"];

const phase = (status: JobStatus): string => {
  if (specification.isEnded(status)) return "ended";
  return specification.isLeased(status) ? "leased" : status;
};

const DOCUMENT = "docs/architecture.md";
const lines = (texts: string[]): string[] => texts.map((text) => `${text}\n`);

const picture = (): string[] =>
  lines([
    "```mermaid",
    "stateDiagram-v2",
    ...OF_A_JOB.map((status) => `  ${status}: ${status}${phase(status) === status ? "" : ` (${phase(status)})`}`),
    ...FIRST.map((status) => `  [*] --> ${status}`),
    ...OF_A_JOB.flatMap((status) => (TRANSITIONS[status] ?? []).map((next) => `  ${status} --> ${next}`)),
    ...OF_A_JOB.filter(specification.isEnded).map((status) => `  ${status} --> [*]`),
    "```",
  ]);

const reachedFrom = (status: string, seen = new Set<string>()): Set<string> => {
  if (!seen.has(status)) for (const next of TRANSITIONS[seen.add(status) && status] ?? []) reachedFrom(next, seen);
  return seen;
};

describe("a job's states", () => {
  it("are all reachable, and each leads to an end", () => {
    expect([...reachedFrom("waiting")].sort()).toEqual([...OF_A_JOB].sort());
    for (const status of OF_A_JOB) expect([...reachedFrom(status)].some(specification.isEnded), status).toBe(true);
    for (const status of OF_A_JOB) expect(!TRANSITIONS[status], status).toBe(specification.isEnded(status));
  });

  it("have the same phases in a build, which moves like its only job", () => {
    expect(STATUSES.map(phaseOf)).toEqual(STATUSES.map(phase));
    expect(STATUSES.filter(specification.isLeased)).toEqual(LEASED);
    expect(STATUSES.filter(specification.isEnded)).toEqual(ENDED);
    for (const status of STATUSES)
      expect(BUILD_TRANSITIONS[status] ?? []).toEqual(expect.arrayContaining([...(TRANSITIONS[status] ?? [])]));
  });

  it("are in docs/architecture.md, as a picture and as rows", async () => {
    const text = readFileSync(DOCUMENT, "utf8");
    for (const status of OF_A_JOB) expect(text).toContain(`| \`${status}\` | ${phase(status)} | `);
    const [before, begin, , end, after] = text.split(/(<!-- (?:states of a job|end).*-->\n)/);
    const printed = [before, begin, ...picture(), end, after].join("");
    await expect(printed).toMatchFileSnapshot(`../../${DOCUMENT}`);
  });

  it("are in the API's description, each build state with its meaning", () => {
    const words = VALUE_WORDS.BuildStatus?.is;
    for (const status of STATUSES) expect(words).toContain(`${status}: ${BUILD_STATES[status].meaning}.`);
  });

  it("count as active, neither queued nor leased, if only a newer release knows them", () => {
    const unknown = "of-a-newer-release" as BuildStatus;
    expect([isActive, isEnded, isQueued, isLeased].map((is) => is(unknown))).toEqual([true, false, false, false]);
  });
});
