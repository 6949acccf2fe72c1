import fc from "fast-check";
import { v7 as uuid } from "uuid";
import { expect, it } from "vitest";
import { firstIdAt } from "../../src/domain/id-range.ts";

const time = fc.integer({ min: 0, max: 2 ** 48 - 2 });

it("the first id of a millisecond is not after any id of it, and after every id of the previous one", () => {
  fc.assert(
    fc.property(time, (at) => {
      expect(firstIdAt(at) <= uuid({ msecs: at })).toBe(true);
      expect(firstIdAt(at + 1) > uuid({ msecs: at })).toBe(true);
    }),
  );
});
