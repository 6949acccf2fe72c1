import { describe, expect, it } from "vitest";
import { BuildFailure, toBuildFailure } from "../../src/agent/failure.ts";

describe("what went wrong on the agent's own machine", () => {
  it.each([
    ["ENOSPC", /disk is full.*--work.*\(\/srv\/log\)/],
    ["EACCES", /may not write/],
    ["EMFILE", /ulimit/],
  ])("%s is told as something to act on, and is not the build's fault", (code, message) => {
    const failure = toBuildFailure(Object.assign(new Error("x"), { code, path: "/srv/log" }));
    expect(failure).toMatchObject({ reason: "agent-error", message: expect.stringMatching(message) });
  });

  it("leaves a failure of the build what it is, and tells of an unknown one", () => {
    const known = new BuildFailure("checkout-failed", "gone");
    expect(toBuildFailure(known)).toBe(known);
    expect(toBuildFailure(new Error("odd"))).toMatchObject({ reason: "agent-error", message: "the agent failed: odd" });
  });
});
