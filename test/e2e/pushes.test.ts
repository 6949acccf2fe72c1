import { expect, it } from "vitest";
import { isRight, pushToAll } from "../drill/pushes.ts";

/** `npm run drill -- pushes` sends a thousand to each. */
it("no push of three hosts is lost or doubled, and every state is reported after an outage", async () => {
  const findings = await pushToAll(4);
  expect(findings.filter((finding) => !isRight(finding))).toEqual([]);
  expect(findings).toHaveLength(3);
});
