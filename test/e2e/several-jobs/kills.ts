import { expect, it } from "vitest";
import { Project, type Stage, soon } from "./stage.ts";

const job = (name: string, needs = ""): string => `
  ${name}:
    requires: { ${name}: true }
    needs: [${needs}]
    outputs: { app: "\${{ steps.build.outputs.app }}" }
    steps:
      - id: build
        run: |
          echo ${name} >> "$HERE/ran"
          echo "app=${name}" >> "$MILLRACE_OUTPUT"
          if [ ${name} = android ]; then while [ ! -e "$HERE/go" ]; do sleep 0.05; done; fi`;

const release = `
  release:
    needs: [ios, android, web]
    steps:
      - env: { ALL: "\${{ needs.ios.outputs.app }} \${{ needs.android.outputs.app }} \${{ needs.web.outputs.app }}" }
        run: echo "$ALL" >> "$HERE/released"
`;

const THREE = `jobs:${job("ios")}${job("android")}${job("web")}${release}`;
/** The first job releases the other two. */
const HELD = `jobs:
  first:
    requires: { android: true }
    steps: [{ run: 'while [ ! -e "$HERE/begin" ]; do sleep 0.05; done' }]${job("ios", "first")}${job("android", "first")}${job("web", "first")}${release}`;

/** Tests agents that die without notice, and restart. */
export const kills = (stage: Stage): void => {
  it("continues if they die before a start, in a step, or while sending the result", async () => {
    const { mac, android, web } = stage;
    const app = await Project.connect(stage, HELD);
    const run = await app.trigger();
    await run.see({ first: "running" });
    const killed = [
      mac.killAt("before", /^POST \/build\/[^/]+\/start$/),
      web.killAt("after", /^POST \/build\/[^/]+\/finish$/),
    ];
    app.mark("begin");
    await soon(() => expect(app.lines("ran")).toContain("android"));
    await android.kill();
    app.mark("go");
    await Promise.all(killed);
    const { by, ...build } = await run.end();
    expect(build).toMatchObject({ status: "succeeded" });
    expect(by).toMatchObject({ android: { attempt: 2 }, web: { attempt: 1 } });
    expect(app.lines("ran").sort()).toEqual(["android", "android", "ios", "web"]);
    expect(app.lines("released")).toEqual(["ios android web"]);
  });

  it.each(["before", "after"] as const)(
    "is planned once if an agent that read its file dies %s reporting the plan",
    async (moment) => {
      const { mac, android, web } = stage;
      const machines = [mac, android, web];
      const app = await Project.connect(stage, THREE);
      app.mark("go");
      const killed = machines.map((machine) => machine.killAt(moment, /^PUT \/build\/[^/]+\/plan$/));
      const run = await app.trigger();
      await Promise.race(killed);
      for (const machine of machines) machine.calm();
      expect(await run.end()).toMatchObject({ status: "succeeded" });
      expect(app.lines("ran").sort()).toEqual(["android", "ios", "web"]);
      expect(app.lines("released")).toEqual(["ios android web"]);
    },
  );
};
