import { expect, it } from "vitest";
import { Project, type Stage } from "./stage.ts";

/** Tests that nothing gets lost while one of both sides is unavailable. */
export const troubles = (stage: Stage): void => {
  it("reports a build's result to an unavailable host once it is back", async () => {
    const app = await Project.alone(stage, "host-away");
    const sha = app.commit("Mend it");
    await app.push("main");
    await app.seeBuilds(1);
    await app.seeStates(sha, "millrace/ci", ["pending"]);
    const asked = app.host.api.requests.length;
    app.host.trouble = "errs";
    app.letGo();
    // The agent has its commit, so the build no longer needs the host.
    await app.seeEnds(1);
    app.host.trouble = "loses answers";
    await expect.poll(() => app.host.api.requests.length).toBeGreaterThan(asked);
    app.host.trouble = null;
    await app.seeLast(sha, "millrace", "success");
    await app.seeLast(sha, "millrace/ci", "success");
    const states = app.host.statesOf(sha, "millrace/ci");
    expect(states.indexOf("success")).toBeGreaterThan(states.lastIndexOf("pending"));
  });

  it("creates one build of a push that arrived as the service went down, when it is redelivered", async () => {
    const app = await Project.alone(stage, "service-away");
    app.letGo();
    app.commit("Mend it");
    const pushed = app.push("main");
    await expect.poll(() => app.host.deliveries.at(-1)?.hook.repositoryId).toBe(app.bare.id);
    await stage.service.restart();
    await pushed;
    const delivery = app.host.deliveries.findLast(({ event }) => event === "push")!;
    for (let time = 0; time < 2; time++) {
      await app.host.redeliver(delivery);
      expect(delivery.status).toBe(202);
    }
    const [build] = await app.seeEnds(1);
    expect(build).toMatchObject({ event: "push", status: "succeeded" });
  });
};
