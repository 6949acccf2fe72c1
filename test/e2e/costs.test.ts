import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BuildCost, CountedService } from "../bench/support/counted-builds.ts";
import { billedCalls, totalOf } from "../bench/support/counts.ts";

const VARIABLES = 30;

let service: CountedService;
let build: BuildCost;

beforeAll(async () => {
  service = await CountedService.start();
  build = await service.buildCost(await service.tenant("acme", VARIABLES));
});
afterAll(() => service?.stop());

/* `npm run bench -- costs` prints the same figures; docs/costs.md says what they mean. */
describe("a build of five minutes with 30 variables", () => {
  it("costs no more requests, calls and rows than it does today", () => {
    const { counts } = build;
    expect(counts.requests).toBeLessThanOrEqual(21);
    expect(Math.round(billedCalls(counts))).toBeLessThanOrEqual(34);
    expect(totalOf(counts.objectRowsWritten)).toBeLessThanOrEqual(49);
    expect(totalOf(counts.d1RowsWritten)).toBeLessThanOrEqual(15);
    expect(counts.archiveWrites).toBe(2);
    expect(counts.lines).toBeLessThanOrEqual(2);
  });

  it("leaves nothing in the object of its log", () => {
    expect(build.objectBytes).toBe(0);
  });
});
