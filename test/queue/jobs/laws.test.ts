import { describe, expect, it } from "vitest";
import { firstBroken } from "./history.ts";
import { JOB_MUTANTS } from "./settle-mutants.ts";
import type { Happening } from "./test-build.ts";

const HISTORIES = 600;

describe("builds with planned jobs", () => {
  it("keep all laws whatever happens to them", () => {
    expect(firstBroken(HISTORIES)).toBeNull();
  });

  it.each(JOB_MUTANTS)("fail the test when a law is broken: $name", ({ breaks, rules }) => {
    const found = firstBroken(HISTORIES, rules);
    expect(found, "no history breaks a law").not.toBeNull();
    expect(breaks, `seed ${found!.seed}: ${found!.broken.message}`).toContain(found!.broken.law);
  });

  const happenings: Happening[] = ["plan", "lease", "end", "cancel", "cancel of a job", "decision", "deadline"];
  it.each(happenings)("fail the test when a %s leaves them stuck", (happening) => {
    const laws = ["J1", "J2", "J3", "J5", "J6", "J11", "J15"];
    expect(laws).toContain(firstBroken(HISTORIES, undefined, happening)?.broken.law);
  });
});
