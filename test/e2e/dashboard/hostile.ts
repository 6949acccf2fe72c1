import { expect, it } from "vitest";
import { waitForEnd } from "../../../src/local/demo.ts";
import type { Build } from "../../../src/protocol/build.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import { ESCAPES, HOSTILE, RUN } from "../../support/hostile-texts.ts";
import { connectRepository, makeRepository } from "../../support/local/git-repository.ts";
import { deliverHostile } from "./git-host.ts";
import { crawl, type Stage } from "./stage.ts";

/** Returns the text without the direction controls that names must not contain. */
const named = (text: string): string => text.replace(/[\u202a-\u202e]/g, "~");

/** Fills every free text field with one of these texts. */
const fill = async ({ service, client }: Stage) => {
  const branch = `x<img/src=x/onerror=${RUN}>`;
  const written = [...HOSTILE, ...ESCAPES].join("\n");
  const file = `steps:
${HOSTILE.slice(0, 8)
  .map((text) => `  - name: ${JSON.stringify(text)}\n    run: "true"`)
  .join("\n")}
  - name: writes
    run: |
      cat hostile.txt
      { cat hostile.txt; printf '\\n# The end\\n'; } >> "$MILLRACE_SUMMARY"
`;
  const git = makeRepository(service.folder, { ".millrace.yml": file, "hostile.txt": `${written}\n` });
  git.git("checkout", "--quiet", "-b", branch);
  const repository = await connectRepository(client, git);
  const made: Promise<unknown>[] = [];
  for (const [index, text] of HOSTILE.entries()) {
    const owner = { scope: "repository", repoId: repository.id };
    const variable = { key: `HOSTILE_${index}`, value: text, description: text, isSecret: false, ...owner };
    made.push(
      client.call("POST", "/secrets/variables", variable),
      client.call("POST", "/secrets/groups", { name: named(text), description: text }),
      client.call("POST", "/token", { name: named(text), kind: "api", role: "viewer" }),
    );
    if (index < 10) made.push(client.call("POST", "/pipeline", { repoId: repository.id, name: text }));
  }
  const agent = { platform: 0, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: false };
  for (const name of HOSTILE.slice(0, 10)) {
    made.push(client.call("POST", "/buildagent/register", { ...agent, name, version: name.slice(0, 100) }));
  }
  // Each title has four texts, since a delivery is expensive.
  for (let from = 0; from < HOSTILE.length; from += 4) {
    made.push(deliverHostile({ service, client } as Stage, HOSTILE.slice(from, from + 4).join(" ")));
  }
  await Promise.all(made);
  const [pipeline] = await client.call<Pipeline[]>("GET", `/pipeline?repoId=${repository.id}`);
  const build = await client.call<Build>("POST", "/build", { pipelineId: pipeline?.id, branch });
  return waitForEnd(client, build.id);
};

/** Elements that no text may become. */
const ALIVE = "main script, main iframe, main object, main base, main [onerror]";

const RIGHT_TO_LEFT = "\u05e9\u05dc\u05d5\u05dd (1)";

interface Names {
  seen: number;
  found: string[];
}

/** Runs in the page. Finds the name beside other text, or in an element that does not isolate its direction. */
const looseNames = `(name) => {
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const found = [];
  let seen = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.data.includes(name) || node.parentElement.closest("option, textarea")) continue;
    seen += 1;
    const { display, unicodeBidi } = getComputedStyle(node.parentElement);
    const isApart = unicodeBidi.startsWith("isolate") || display !== "inline";
    if (node.data.trim() !== name || !isApart) found.push(node.parentElement.outerHTML);
  }
  return { seen, found };
}`;

export const hostile = (stage: Stage) => {
  it("keeps hostile text inert on every page, in logs and in summaries", async () => {
    const { service, browser } = stage;
    const { page } = browser;
    const build = await fill(stage);
    expect(build).toMatchObject({ status: "succeeded" });
    const paths = [...(await crawl(page, service.url, 1)).keys(), `/app/builds/${build.id}`];
    for (const path of paths) {
      await page.goto(service.url + path);
      expect(await page.evaluate(`[window.__ran, document.querySelectorAll("${ALIVE}").length]`), path).toEqual([
        undefined,
        0,
      ]);
    }
    await page.goto(`${service.url}/app/builds/${build.id}`);
    await page
      .locator(".log-text")
      .getByText(HOSTILE[0] as string)
      .first()
      .waitFor();
    await page.goto(`${service.url}/app/builds/${build.id}?tab=summary`);
    await page.locator("#summary").getByRole("heading", { name: "The end" }).waitFor();
    expect(await page.locator('.prose a[href^="javascript"], .prose img').count()).toBe(0);
    expect(await page.evaluate("window.__ran")).toBeUndefined();
  });

  it("isolates right-to-left names from the text beside them", async () => {
    const { service, client, browser } = stage;
    const { page } = browser;
    const group = await client.call<{ id: string }>("POST", "/secrets/groups", { name: RIGHT_TO_LEFT });
    const token = { name: RIGHT_TO_LEFT, kind: "api", role: "viewer" };
    const { id } = await client.call<{ id: string }>("POST", "/token", token);
    const repository = await connectRepository(client, makeRepository(service.folder, {}));
    const ci = { repoId: repository.id, name: RIGHT_TO_LEFT, groupIds: [group.id] };
    const pipeline = await client.call<Pipeline>("POST", "/pipeline", ci);
    const owner = { scope: "group", orgId: "acme", groupId: group.id };
    await client.call("POST", "/secrets/variables", { key: "A", value: "1", isSecret: false, ...owner });
    const { id: buildId } = await client.call<Build>("POST", "/build", { pipelineId: pipeline.id, branch: "main" });
    const paths = ["tokens", "groups", "variables", "builds", `groups/${group.id}/remove`, `tokens/${id}/rotate`];
    paths.push(`tokens/${id}/revoke`, `pipelines/${pipeline.id}`, `builds/${buildId}`, `groups/${group.id}`);
    const loose: Record<string, unknown> = {};
    for (const path of paths) {
      await page.goto(`${service.url}/app/${path}`);
      const { seen, found } = (await page.evaluate(`(${looseNames})(${JSON.stringify(RIGHT_TO_LEFT)})`)) as Names;
      expect([path, seen]).not.toEqual([path, 0]);
      if (found.length > 0) loose[path] = found;
    }
    expect(loose).toEqual({});
  });

  it("detects a right-to-left name that is not isolated", async () => {
    const { page } = stage.browser;
    await page.goto("about:blank");
    await page.setContent(`<main><h1>Remove ${RIGHT_TO_LEFT}?</h1><p>1 <span>${RIGHT_TO_LEFT}</span> 2</p></main>`);
    const names = (await page.evaluate(`(${looseNames})(${JSON.stringify(RIGHT_TO_LEFT)})`)) as Names;
    expect(names.found).toHaveLength(2);
    stage.browser.complaints.splice(0);
  });

  it("detects hostile text that is not escaped", async () => {
    const { page } = stage.browser;
    await page.goto("about:blank");
    await page.setContent(HOSTILE[1] as string);
    await expect.poll(() => page.evaluate("window.__ran")).toBe(1);
    stage.browser.complaints.splice(0);
  });
};
