import { expect, it } from "vitest";
import { pushThroughOutage } from "../drill/outage.ts";

/** `npm run drill -- outage` does the same with many more. */
it("builds the newest head of each branch, and nothing else, that was pushed while the service was away", async () => {
  expect(await pushThroughOutage(6, 2)).toEqual({ pushes: 6, heads: 2, built: 2, others: 0, ordered: 2 });
});
