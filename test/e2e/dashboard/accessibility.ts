import { expect, it } from "vitest";
import { waitForEnd } from "../../../src/local/demo.ts";
import type { Build } from "../../../src/protocol/build.ts";
import { signIn } from "../../support/browser.ts";
import { deliverHostile } from "./git-host.ts";
import { bringAxe, judge } from "./judge.ts";
import { crawl, repositoryWith, runBuild, type Stage } from "./stage.ts";
import { htmlProblems } from "./valid-html.ts";

/** A pipeline that leaves a summary with a table, a report, an artifact with two folders, and a cache entry. */
const FILE = `steps:
  - run: |
      printf '| a | b |\\n| - | -: |\\n| 1 | 2 |\\n' >> "$MILLRACE_SUMMARY"
      mkdir -p out/deep; echo '<title>report</title>' > out/index.html; echo text > out/deep/file.txt
      echo '<testsuite><testcase name="adds" time="0.1"/><testcase name="rounds" time="2"><failure message="118.99">' > r.xml
      echo 'at cart.ts:41</failure></testcase></testsuite>' >> r.xml
artifacts: [{ name: out, path: out/ }]
reports: { junit: r.xml }
cache: [{ name: out, key: one, path: out/ }]
`;

/** Pages that need no record, and a page that does not exist. */
const EVERYWHERE = [
  ...["", "/builds", "/builds?view=all&status=bogus", "/builds/new", "/agents", "/agents/new", "/repositories"],
  ...["/repositories/new", "/schedules", "/variables", "/variables/new", "/groups", "/connections", "/connections/new"],
  ...["/tokens", "/audit", "/first-hour", "/nothing"],
];
/** Forms that the service rejects and shows again. */
const REFUSED: [path: string, form: Record<string, string>][] = [
  ["/repositories/new", { fullName: "no-owner", cloneUrl: "nowhere", gitHostRepoId: "x", defaultBranch: "" }],
  ["/variables/new", { owner: "organization:x", key: "1 bad", value: "" }],
  ["/connections/new", { kind: "github", name: "", webUrl: "nowhere", way: "hand", token: "" }],
];

/** Creates one record for every kind of page. @returns a build with everything that builds leave */
const oneOfEach = async (stage: Stage): Promise<Build> => {
  const { client } = stage;
  const repository = await repositoryWith(stage, FILE);
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
  const build = await waitForEnd(client, (await runBuild(stage, repoId)).id);
  const [pipeline] = await client.call<{ id: string }[]>("GET", `/pipeline?repoId=${repoId}`);
  await client.call("POST", "/schedule", { pipelineId: pipeline?.id, name: "nightly", cron: "0 2 * * *" });
  await deliverHostile(stage, "a title");
  return build;
};

export const accessibility = (stage: Stage) => {
  it("passes axe on every page, in light and dark, and fits a phone", async () => {
    const { service, client, chromium } = stage;
    const browser = await chromium.open();
    await bringAxe(browser.context);
    const { page } = browser;
    await signIn(page, service.url, client.token);
    const { id, ...build } = await oneOfEach(stage);
    expect(build).toMatchObject({ status: "succeeded", tests: { failed: 1 } });
    const sources = await crawl(page, service.url, 1, `/app/builds/${id}`);
    const paths = [...sources.keys(), "/app/nothing", "/app/sign-in"];
    expect(paths.length).toBeGreaterThan(30);
    for (const part of ["/artifacts/", "/cache", "/flaky", "/tests/"])
      expect(
        paths.some((path) => path.includes(part)),
        part,
      ).toBe(true);
    const found: Record<string, string[]> = {};
    for (const [path, source] of sources) {
      const wrong = htmlProblems(source);
      if (wrong.length > 0) found[`HTML of ${path}`] = wrong;
    }
    for (const path of paths) {
      await page.goto(service.url + path);
      const wrong = await judge(page);
      if (wrong.length > 0) found[path] = wrong;
    }
    expect(found).toEqual({});
    expect(browser.complaints).toEqual([]);
    await browser.close();
  });

  it("is valid HTML for other roles, in an empty organization, on problem pages, and without a session", async () => {
    const { service, client } = stage;
    const empty = await service.newOrganization(`empty-${crypto.randomUUID().slice(0, 8)}`);
    const roleToken = async (role: string) =>
      (await client.call<{ token: string }>("POST", "/token", { name: `html as ${role}`, kind: "api", role })).token;
    const tokens = [empty.token, ...(await Promise.all(["viewer", "member", "maintainer"].map(roleToken)))];
    const found: Record<string, string[]> = {};
    const see = async (path: string, cookie: string, form?: Record<string, string>) => {
      const answer = await fetch(service.url + path, {
        headers: { Cookie: cookie, Origin: service.url },
        ...(form && { method: "POST", body: new URLSearchParams(form) }),
      });
      const wrong = htmlProblems(await answer.text());
      if (wrong.length > 0) found[`${answer.status} ${path}`] = wrong;
      return answer.status;
    };
    for (const token of tokens) {
      const signedIn = await fetch(`${service.url}/app/sign-in`, {
        ...{ method: "POST", redirect: "manual", headers: { Origin: service.url } },
        body: new URLSearchParams({ token }),
      });
      const cookie = signedIn.headers.get("Set-Cookie")?.split(";")[0] ?? "";
      expect(signedIn.status).toBe(303);
      for (const path of EVERYWHERE) await see(`/app${path}`, cookie);
      if (token === empty.token)
        for (const [path, form] of REFUSED) expect([path, await see(`/app${path}`, cookie, form)]).toEqual([path, 422]);
    }
    expect(await see("/app/sign-in", "")).toBe(200);
    expect(await see("/app/sign-in", "", { token: "mrt_wrong" })).toBe(401);
    expect(found).toEqual({});
  });

  it("fails axe if a button has no name and too little contrast", async () => {
    const { page } = stage.browser;
    await page.goto("about:blank");
    await page.setContent('<main><h1 style="color:#ccc;background:#fff">pale words</h1><button></button></main>');
    expect((await judge(page)).join("\n")).toMatch(/button-name.*color-contrast/s);
    expect(htmlProblems("<!DOCTYPE html><span><form></form></span>").join("\n")).toMatch(/element-permitted-content/);
    stage.browser.complaints.splice(0);
  });
};
