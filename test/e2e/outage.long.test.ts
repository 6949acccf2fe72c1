import { expect, it } from "vitest";
import { isRight as isTold, pushThroughBacklog } from "../drill/backlog.ts";
import { pushThroughOutage } from "../drill/outage.ts";

/** `npm run drill -- outage` does the same with many more. */
it("after an outage, builds only the newest head that was pushed to each branch meanwhile", async () => {
  expect(await pushThroughOutage(6, 2)).toEqual({ pushes: 6, heads: 2, built: 2, others: 0, ordered: 2 });
});

/** `npm run drill -- backlog` does the same with 3,000 commits. */
it("reports a new push to the host before the backlog of a hundred older commits", async () => {
  const finding = await pushThroughBacklog(100);
  expect(finding).toMatchObject({ commits: 100, waiting: 200 });
  expect(isTold(finding), JSON.stringify(finding)).toBe(true);
});
