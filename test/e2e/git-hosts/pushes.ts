import { expect, it } from "vitest";
import { Project, type Stage, see } from "./stage.ts";

/** Tests the builds that pushes, tags and pull requests create. */
export const pushes = (stage: Stage): void => {
  it("creates one build of a push, with its event, and reports its state", async () => {
    const app = await Project.alone(stage, "push");
    const before = app.git.git("rev-parse", "HEAD");
    const sha = app.commit("Mend the sluice");
    await app.push("main");
    const [build] = await app.seeBuilds(1);
    expect(build).toMatchObject({ event: "push", ref: "refs/heads/main", branch: "main", commitSha: sha });
    expect(build).toMatchObject({ subject: "Mend the sluice", author: "T", pull: null });
    await app.seeStates(sha, "millrace/ci", ["pending"]);
    app.letGo();
    const [ended] = await app.seeEnds(1);
    expect(ended).toMatchObject({ status: "succeeded" });
    await app.seeSuccess(sha);
    expect(app.host.statesOf(before, "millrace/ci")).toEqual([]);
    expect(await app.logOf(build!)).toContain("event=push ref=refs/heads/main tag= pull= base=");
    // A host could not open a link to loopback.
    const told = app.host.api.place.statuses.find((status) => status.sha === sha);
    expect(told?.body).not.toHaveProperty("target_url");
  });

  it("builds a tag if the file on the default branch says so", async () => {
    const app = await Project.alone(stage, "tag");
    app.letGo();
    const file = "on: { push: true, tag: { names: ['v*'] } }\nsteps: [{ run: 'echo tag=$MILLRACE_TAG' }]\n";
    app.commit("Want tags", { ".millrace.yml": file });
    await app.push("main");
    await app.seeEnds(1);
    app.git.git("tag", "--annotate", "--message", "one", "v1");
    app.git.git("tag", "other");
    await app.push("v1", "other");
    const [, tag] = await app.seeEnds(2);
    expect(tag).toMatchObject({ event: "tag", tag: "v1", status: "succeeded" });
    expect(tag?.commitSha).toBe(app.git.git("rev-parse", "HEAD"));
    expect(await app.logOf(tag!)).toContain("tag=v1");
  });

  it("creates one build, not two, of the head of the repository's own pull request", async () => {
    const app = await Project.alone(stage, "pull");
    app.git.git("checkout", "--quiet", "-b", "topic");
    app.commit("Begin the topic");
    await app.push("topic");
    const pull = await app.host.openPull(app.bare, "topic");
    app.letGo(pull.head);
    const [opened] = await app.seeEnds(1);
    expect(opened).toMatchObject({ event: "pull", commitSha: pull.head, status: "succeeded" });
    expect(opened?.pull).toMatchObject({ number: pull.number, base: "main", branch: "topic" });
    const next = app.commit("Go on with it");
    await app.push("topic");
    const [, moved] = await app.seeBuilds(2);
    expect(moved).toMatchObject({ commitSha: next, pull: { number: pull.number } });
    await app.seeStates(next, "millrace/ci", ["pending"]);
    app.letGo();
    await app.seeEnds(2);
    await app.seeSuccess(next);
    expect(await app.logOf(moved!)).toContain(`pull=${pull.number} base=main`);
  });

  it("does not build a pull request of a stranger's fork, and says why", async () => {
    const app = await Project.alone(stage, "forked");
    const fork = app.host.addRepository("stranger/forked");
    app.git.git("checkout", "--quiet", "-b", "gift");
    app.commit("Steal it", { ".millrace.yml": "steps: [{ run: env }]\n" });
    await app.host.push(app.git, fork, "gift");
    const pull = await app.host.openPull(app.bare, "gift", fork);
    const path = `/connection/${app.connection.id}/delivery`;
    const noted = async () =>
      (await stage.client.call<{ sha: string; ignored: string }[]>("GET", path)).find(({ sha }) => sha === pull.head);
    await see(noted, expect.objectContaining({ ignored: expect.stringMatching(/fork/) }));
    expect(await app.builds()).toEqual([]);
  });

  it("does not build a commit with [skip ci] in its message", async () => {
    const app = await Project.alone(stage, "skipped");
    app.letGo();
    app.commit("Mend a comment [skip ci]");
    await app.push("main");
    app.commit("Mend the code");
    await app.push("main");
    const [build] = await app.seeEnds(1);
    expect(build).toMatchObject({ subject: "Mend the code" });
  });
};
