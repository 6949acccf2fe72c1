import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { VALUES } from "../../src/api/description/words/values.ts";
import {
  BUILD_STATES,
  type BuildStatus,
  ENDED,
  isActive,
  isEnded,
  isLeased,
  isQueued,
  LEASED,
  nextStates,
  phaseOf,
  STATUSES,
} from "../../src/protocol/build-states.ts";
import { BUILD_TRANSITIONS } from "../simulate/job-specification.ts";
import * as specification from "../simulate/specification.ts";

const FIRST: BuildStatus = "queued";

const DOCUMENT = "docs/architecture.md";
const lines = (texts: string[]): string[] => texts.map((text) => `${text}\n`);

const picture = (): string[] =>
  lines([
    "```mermaid",
    "stateDiagram-v2",
    ...STATUSES.map((status) => `  ${status}: ${status}${phaseOf(status) === status ? "" : ` (${phaseOf(status)})`}`),
    `  [*] --> ${FIRST}`,
    ...STATUSES.flatMap((status) => nextStates(status).map((next) => `  ${status} --> ${next}`)),
    ...ENDED.map((status) => `  ${status} --> [*]`),
    "```",
  ]);

const table = (): string[] =>
  lines([
    "| state | phase | a build in it | who moves a build into it |",
    "| --- | --- | --- | --- |",
    ...STATUSES.map((status) => {
      const { phase, meaning, movedBy } = BUILD_STATES[status];
      return `| \`${status}\` | ${phase} | ${meaning} | ${movedBy}. |`;
    }),
  ]);

const reachedFrom = (status: BuildStatus, seen = new Set<BuildStatus>()): Set<BuildStatus> => {
  if (!seen.has(status)) for (const next of nextStates(seen.add(status) && status)) reachedFrom(next, seen);
  return seen;
};

describe("the states of a build", () => {
  it("are all reached from the first one, and each leads to an end", () => {
    expect([...reachedFrom(FIRST)].sort()).toEqual([...STATUSES].sort());
    for (const status of STATUSES) expect([...reachedFrom(status)].some(isEnded), status).toBe(true);
    expect(STATUSES.filter((status) => nextStates(status).length === 0)).toEqual(ENDED);
  });

  it("are the same in the specification of the simulation, which is written a second time", () => {
    const edges = STATUSES.map((status) => [status, [...nextStates(status)].sort()] as const);
    const { waiting: _, ...ofJobs } = specification.TRANSITIONS;
    const specified = Object.entries(ofJobs).map(([status, next]) => [status, [...next].sort()]);
    expect(Object.fromEntries(specified)).toEqual(Object.fromEntries(edges.filter(([, next]) => next.length > 0)));
    for (const [status, next] of edges) expect(BUILD_TRANSITIONS[status] ?? []).toEqual(expect.arrayContaining(next));
    expect(STATUSES.filter(specification.isLeased)).toEqual(LEASED);
    expect(STATUSES.filter(specification.isEnded)).toEqual(ENDED);
  });

  it("are told in docs/architecture.md by what the table prints: `-u` prints it anew", async () => {
    const [before, begin, , end, after] = readFileSync(DOCUMENT, "utf8").split(
      /(<!-- (?:states of a build|end).*-->\n)/,
    );
    const printed = [before, begin, ...picture(), "\n", ...table(), end, after].join("");
    await expect(printed).toMatchFileSnapshot(`../../${DOCUMENT}`);
  });

  it("are told in the API's description, each with its meaning", () => {
    const words = VALUES.BuildStatus?.is;
    for (const status of STATUSES) expect(words).toContain(`${status}: ${BUILD_STATES[status].meaning}.`);
  });

  it("that only a newer release knows are active, and neither queued nor leased", () => {
    const unknown = "of-a-newer-release" as BuildStatus;
    expect([isActive, isEnded, isQueued, isLeased].map((is) => is(unknown))).toEqual([true, false, false, false]);
  });
});
