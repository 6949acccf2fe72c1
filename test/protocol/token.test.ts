import { describe, expect, it } from "vitest";
import { includesRole, ROLES } from "../../src/protocol/token.ts";

describe("a role", () => {
  it("includes itself and the previous ones", () => {
    for (const [at, held] of ROLES.entries()) {
      expect(ROLES.filter((needed) => includesRole(held, needed))).toEqual(ROLES.slice(0, at + 1));
    }
  });
});
