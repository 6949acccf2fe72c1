import { describe, expect, it } from "vitest";
import { BuildFailure, toBuildFailure } from "../../../src/agent/build/failure.ts";

describe("an error of the agent's machine", () => {
  it.each([
    ["ENOSPC", /disk is full.*--work.*\(\/srv\/log\)/],
    ["EACCES", /has no permission to write/],
    ["EMFILE", /ulimit/],
  ])("%s becomes a message with advice, and is not the build's fault", (code, message) => {
    const failure = toBuildFailure(Object.assign(new Error("x"), { code, path: "/srv/log" }));
    expect(failure).toMatchObject({ reason: "agent-error", message: expect.stringMatching(message) });
  });

  it("stays unchanged as a build failure, and gets a description if it is unknown", () => {
    const known = new BuildFailure("checkout-failed", "gone");
    expect(toBuildFailure(known)).toBe(known);
    expect(toBuildFailure(new Error("odd"))).toMatchObject({ reason: "agent-error", message: "the agent failed: odd" });
  });
});
