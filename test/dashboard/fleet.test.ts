import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cellRects } from "../../src/dashboard/fleet/cell-rects.ts";
import { call, created, newOrganization, newPipeline, newRepository, newToken } from "../support/api.ts";
import { trigger } from "../support/build-setup.ts";
import { HOSTILE } from "../support/hostile-texts.ts";
import { personWith } from "./page-requests.ts";

const SKILLS = { platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true };
const NAME = `mill ${HOSTILE}`.slice(0, 60);

/** An organization with an agent of a hostile name, and a build that nobody can run. */
const stage = async () => {
  const { admin } = await newOrganization();
  const agent = await created(admin, "/buildagent/register", { ...SKILLS, name: NAME, labels: ["big"] });
  const { id: repoId } = await newRepository(admin, 1);
  const requires = { platform: "macos", ios: true, labels: ["fast"], xcode: "26" };
  await trigger(admin, (await newPipeline(admin, repoId, { requires })).id);
  return { admin, agent: agent.id as string, person: async () => personWith(await newToken(admin, "viewer")) };
};

describe("the cells of a strip", () => {
  it("are those from one place to before another, in three rectangles at most", () => {
    fc.assert(
      fc.property(fc.nat(60), fc.nat(60), fc.integer({ min: 1, max: 12 }), (from, length, columns) => {
        const rects = cellRects(from, from + length, columns);
        const cells = rects.flatMap(({ x, y, width, height }) =>
          Array.from({ length: width * height }, (_, n) => (y + Math.floor(n / width)) * columns + x + (n % width)),
        );
        expect(cells).toEqual(Array.from({ length }, (_, n) => from + n));
        expect(rects.length).toBeLessThan(4);
      }),
    );
  });
});

describe("the fleet", () => {
  it("is a picture, the queue by what it needs, and rows", async () => {
    const { person, agent } = await stage();
    const { text } = await (await person()).open("/agents");
    expect(text).toContain("<title>1 agent idle</title>");
    expect(text).toContain("macOS, iOS, Xcode 26, label fast");
    expect(text).toContain("no online agent has that");
    expect(text).toContain(`href="/app/agents/${agent}"`);
    expect(text).not.toContain("<img src=x");
  });

  it("says so where nothing waits", async () => {
    const { admin } = await newOrganization();
    expect((await (await personWith(admin)).open("/agents")).text).toContain("Nothing waits for an agent.");
  });
});

describe("the page of an agent", () => {
  it("tells what it is and does, and is changed by a maintainer alone", async () => {
    const { admin, agent, person } = await stage();
    const path = `/agents/${agent}`;
    const { status, text } = await (await person()).open(path);
    expect(status).toBe(200);
    expect(text).toContain("It runs nothing.");
    expect(text).toContain("web, big");
    expect(text).not.toContain("<img src=x");
    expect(text).not.toContain("/drain");
    const maintainer = await personWith(await newToken(admin, "maintainer"));
    expect((await maintainer.open(path)).text).toContain(`action="/app/agents/${agent}/drain"`);
    expect((await maintainer.submit(`${path}/drain`)).status).toBe(303);
    expect((await maintainer.open(path)).text).toContain("It takes no new builds.");
  });

  it("is of its own organization alone, and gone with the agent", async () => {
    const { admin, agent } = await stage();
    const stranger = await personWith((await newOrganization()).admin);
    expect((await stranger.open(`/agents/${agent}`)).status).toBe(404);
    await call(admin, "DELETE", `/buildagent/${agent}`);
    expect((await (await personWith(admin)).open(`/agents/${agent}`)).status).toBe(404);
  });
});
