import { expect, it } from "vitest";
import { Project, type Stage } from "./stage.ts";

/** Tests builds whose ref moves or disappears. */
export const refs = (stage: Stage): void => {
  it("ends the build of a head that a force push replaced, and builds the new head", async () => {
    const app = await Project.alone(stage, "forced");
    app.git.git("checkout", "--quiet", "-b", "topic");
    const older = app.commit("Try it");
    await app.push("topic");
    await app.host.openPull(app.bare, "topic");
    const [first] = await app.seeBuilds(1);
    await app.seeStatus(first!, "running");
    await app.seeStates(older, "millrace/ci", ["pending"]);
    app.git.git("commit", "--quiet", "--allow-empty", "--amend", "--message", "Try it better");
    const newer = app.git.git("rev-parse", "HEAD");
    await app.push("--force", "topic");
    const [, second] = await app.seeBuilds(2);
    await app.seeStatus(first!, "canceled");
    app.letGo();
    const [superseded, built] = await app.seeEnds(2);
    expect(superseded).toMatchObject({ status: "canceled", reason: "superseded", supersededBy: second?.id });
    expect(built).toMatchObject({ status: "succeeded", commitSha: newer });
    await app.seeLast(newer, "millrace/ci", "success");
    await app.seeLast(newer, "millrace", "success");
    await app.seeStates(older, "millrace/ci", ["pending", "error"]);
  });

  it("ends the build of a deleted branch", async () => {
    const app = await Project.alone(stage, "deleted");
    app.git.git("checkout", "--quiet", "-b", "topic");
    const sha = app.commit("Try it");
    await app.push("topic");
    await app.host.openPull(app.bare, "topic");
    const [build] = await app.seeBuilds(1);
    await app.seeStatus(build!, "running");
    await app.push(":topic");
    const [ended] = await app.seeEnds(1);
    expect(ended).toMatchObject({ status: "canceled", reason: "canceled" });
    await app.seeLast(sha, "millrace/ci", "error");
  });
};
