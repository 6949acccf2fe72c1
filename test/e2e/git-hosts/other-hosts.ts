import { expect, it } from "vitest";
import { connectHost, Project, type Stage } from "./stage.ts";

/** Tests GitLab, Gitea, and a host that people connected by hand. */
export const otherHosts = (stage: Stage): void => {
  it.each(["gitlab", "gitea"] as const)(
    "builds pushes and pull requests on %s, and reports the states to it",
    async (kind) => {
      const hosted = await connectHost(stage, kind);
      const app = await Project.connect(stage, kind, {}, hosted);
      const sha = app.commit("Mend it");
      await app.push("main");
      const [push] = await app.seeBuilds(1);
      expect(push).toMatchObject({ event: "push", commitSha: sha, ref: "refs/heads/main" });
      await app.seeStates(sha, "millrace/ci", ["pending"]);
      app.letGo(sha);
      await app.seeEnds(1);
      await app.seeSuccess(sha);
      app.git.git("checkout", "--quiet", "-b", "topic");
      app.commit("Go on");
      await app.push("topic");
      const pull = await hosted.host.openPull(app.bare, "topic");
      app.letGo();
      const [, built] = await app.seeEnds(2);
      expect(built).toMatchObject({ event: "pull", pull: { number: pull.number, base: "main" }, status: "succeeded" });
      await app.seeLast(pull.head, "millrace/ci", "success");
      const refs = new Set(hosted.host.api.place.jobs.map(({ ref }) => ref));
      expect([...refs]).toEqual(kind === "gitlab" ? ["main", "topic"] : []);
    },
  );

  it("builds deliveries of a manual webhook, and reports nothing to a host without a token", async () => {
    const { host, connection } = await connectHost(stage, "gitea", false);
    const app = await Project.connect(stage, "by-hand", {}, { host, connection });
    app.letGo();
    const path = `/connection/${connection.id}/hook`;
    host.addHook(app.bare, await stage.client.call<{ url: string; secret: string }>("GET", path));
    app.commit("Mend it");
    await app.push("main");
    const [build] = await app.seeEnds(1);
    expect(build).toMatchObject({ event: "push", status: "succeeded" });
    expect(host.deliveries.map(({ status }) => status)).toEqual([202]);
    expect(host.api.requests).toEqual([]);
  });
};
