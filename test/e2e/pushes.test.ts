import { expect, it } from "vitest";
import { isRight, pushToAll } from "../drill/pushes.ts";

/** `npm run drill -- pushes` sends a thousand to each. */
it("loses and doubles no push of three hosts at once, and tells all that were away", async () => {
  const findings = await pushToAll(4);
  expect(findings.filter((finding) => !isRight(finding))).toEqual([]);
  expect(findings).toHaveLength(3);
});
