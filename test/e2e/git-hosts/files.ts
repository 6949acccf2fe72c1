import { expect, it } from "vitest";
import { Project, type Stage } from "./stage.ts";

const STEPS = "steps: [{ run: 'echo built' }]\n";

/** Tests the decisions of the default branch's pipeline file. */
export const files = (stage: Stage): void => {
  it("follows `on` of the default branch, whatever a branch's own file says", async () => {
    const app = await Project.alone(stage, "on");
    app.letGo();
    app.commit("Want releases", { ".millrace.yml": `on: { push: { branches: [main, 'release/*'] } }\n${STEPS}` });
    await app.push("main");
    await app.seeEnds(1);
    app.git.git("checkout", "--quiet", "-b", "topic");
    app.commit("Want everything", { ".millrace.yml": `on: { push: true, pull: true }\n${STEPS}` });
    await app.push("topic");
    await app.host.openPull(app.bare, "topic");
    app.git.git("checkout", "--quiet", "-b", "release/1", "main");
    app.commit("Release it");
    await app.push("release/1");
    const [, released] = await app.seeEnds(2);
    expect(released).toMatchObject({ branch: "release/1", status: "succeeded" });
  });

  it("builds pushes by their paths, and runs steps by the changes since the last successful build", async () => {
    const app = await Project.alone(stage, "paths");
    app.letGo();
    const file = `on: { push: { paths: ['src/**', '.millrace.yml'] } }
steps:
  - run: echo code
  - if: changed('docs/**')
    run: echo documents-have-changed
`;
    app.commit("Say which paths", { ".millrace.yml": file, "src/a.ts": "1", "docs/a.md": "1" });
    await app.push("main");
    await app.seeEnds(1);
    app.commit("Write", { "docs/a.md": "2" });
    await app.push("main");
    app.commit("Code", { "src/a.ts": "2" });
    await app.push("main");
    const [, both] = await app.seeEnds(2);
    expect(both).toMatchObject({ subject: "Code", status: "succeeded" });
    app.commit("Code more", { "src/a.ts": "3" });
    await app.push("main");
    const [, , code] = await app.seeEnds(3);
    expect(await app.logOf(both!)).toMatch(/^documents-have-changed$/m);
    expect(code).toMatchObject({ subject: "Code more", status: "succeeded", base: both?.commitSha });
    expect(await app.logOf(code!)).not.toMatch(/^documents-have-changed$/m);
  });

  it("skips a pull request without matching files, and does not block it", async () => {
    const app = await Project.alone(stage, "skipped-pull");
    app.letGo();
    app.commit("Say which paths", { ".millrace.yml": `on: { push: true, pull: { paths: ['src/**'] } }\n${STEPS}` });
    await app.push("main");
    await app.seeEnds(1);
    app.git.git("checkout", "--quiet", "-b", "docs");
    const written = app.commit("Write", { "docs/a.md": "1" });
    // Push the commit under another name first, so that only the pull request wants it.
    await app.push("docs:refs/heads/docs");
    await app.host.openPull(app.bare, "docs");
    const builds = await app.seeEnds(2);
    expect(builds.filter(({ commitSha }) => commitSha === written)).toHaveLength(1);
    await app.seeLast(written, "millrace", "success");
  });
};
