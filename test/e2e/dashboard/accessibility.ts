import { expect, it } from "vitest";
import { waitForEnd } from "../../../src/local/demo.ts";
import { deliverHostile } from "./git-host.ts";
import { judge } from "./judge.ts";
import { crawl, repositoryWith, runBuild, type Stage } from "./stage.ts";

/** Creates one record of every kind that has a page. */
const oneOfEach = async (stage: Stage): Promise<void> => {
  const { client } = stage;
  const table = "| a | b |\\n| - | -: |\\n| 1 | 2 |\\n";
  const repository = await repositoryWith(stage, `steps:\n  - run: printf '${table}' >> "$MILLRACE_SUMMARY"\n`);
  const { id: groupId } = await client.call<{ id: string }>("POST", "/secrets/groups", { name: crypto.randomUUID() });
  const { id: repoId } = repository;
  await client.call("POST", "/pipeline", { repoId, name: "ci", groupIds: [groupId] });
  await client.call("POST", "/secrets/variables", {
    scope: "repository",
    repoId,
    key: "ONE",
    value: "1",
    isSecret: false,
  });
  await waitForEnd(client, (await runBuild(stage, repoId)).id);
  const [pipeline] = await client.call<{ id: string }[]>("GET", `/pipeline?repoId=${repoId}`);
  await client.call("POST", "/schedule", { pipelineId: pipeline?.id, name: "nightly", cron: "0 2 * * *" });
  await deliverHostile(stage, "a title");
};

export const accessibility = (stage: Stage) => {
  it("has nothing on any page that axe objects to, in light and dark, and fits a phone", async () => {
    const { service, browser } = stage;
    const { page } = browser;
    await oneOfEach(stage);
    const paths = [...(await crawl(page, service.url, 1)).keys(), "/app/nothing", "/app/sign-in"];
    expect(paths.length).toBeGreaterThan(30);
    const found: Record<string, string[]> = {};
    for (const path of paths) {
      await page.goto(service.url + path);
      const wrong = await judge(page);
      if (wrong.length > 0) found[path] = wrong;
    }
    expect(found).toEqual({});
  });

  it("would be objected to, were a button nameless and pale", async () => {
    const { page } = stage.browser;
    await page.goto("about:blank");
    await page.setContent('<main><h1 style="color:#ccc;background:#fff">pale words</h1><button></button></main>');
    expect((await judge(page)).join("\n")).toMatch(/button-name.*color-contrast/s);
    stage.browser.complaints.splice(0);
  });
};
