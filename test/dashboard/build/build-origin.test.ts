import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { putRecord } from "../../../src/archive/records.ts";
import { firstIdAt } from "../../../src/domain/id-range.ts";
import type { BuildOrigin } from "../../../src/githosts/core/build-origin.ts";
import type { Build } from "../../../src/protocol/build.ts";
import { newBuild, poolOf, value } from "../../objects/pool/support.ts";
import { call, newOrganization, newRepository } from "../../support/api.ts";
import { writeSummary } from "../../support/summary-row.ts";
import { requestPage, signIn } from "../shell/page-requests.ts";

const SHA = "a".repeat(40);
const PULL = { number: 12, base: "main", branch: "cart", title: "Round once", author: "ada" };
const ORIGIN: BuildOrigin = {
  ...{ event: "push", before: null, pull: null, schedule: null, paths: null, purpose: "build" },
  commit: { subject: "cart: round once", author: "Ada" },
};

/** Creates an organization with a repository, and builds with these origins. */
const newStage = async (origins: Partial<BuildOrigin>[]) => {
  const { orgId, admin } = await newOrganization();
  const { id: repoId } = await newRepository(admin);
  const ids: string[] = [];
  for (const [index, origin] of origins.entries()) {
    const branch = origin.event === "tag" ? "refs/tags/v1" : `branch-${index}`;
    const own = { repoId, pipelineId: null, inputs: null, secretKeys: [], commitSha: SHA, branch };
    const id = firstIdAt(Date.now() + index).slice(0, 24) + crypto.randomUUID().slice(24);
    const build = newBuild(orgId, { id, ...own, origin: { ...ORIGIN, ...origin } });
    ids.push(value(await poolOf(orgId).enqueue(build)).id);
  }
  const cookie = (await signIn(admin)).split(";")[0] ?? "";
  const page = async (path: string): Promise<string> => {
    const answer = await requestPage(path, { cookie });
    expect(answer.status, path).toBe(200);
    return answer.text();
  };
  return { orgId, admin, repoId, ids, page };
};

const textOf = (markup: string): string =>
  markup
    .slice(markup.indexOf("<main"), markup.indexOf("</main>"))
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");

describe("the build list", () => {
  it("shows each build's event, and its commit's subject and author", async () => {
    const { page } = await newStage([
      {},
      { event: "tag" },
      { event: "pull", pull: PULL },
      { event: "schedule", schedule: "nightly", commit: null },
      { event: "api", commit: null },
    ]);
    const rows = textOf(await page("/builds"))
      .split("#")
      .slice(1);
    expect(rows[0]).toMatch(/^5 acme\/app-1 : branch-4 at aaaaaaa waiting/);
    expect(rows[2]).toMatch(/: nightly waiting .* branch-3 aaaaaaa schedule nightly/);
    expect(rows[4]).toMatch(/: cart: round once waiting .* pull request/);
    expect(rows[5]).toMatch(/^12 Round once Ada/);
    expect(rows[7]).toMatch(/: cart: round once waiting .* v1 aaaaaaa tag Ada/);
    expect(rows[9]).toMatch(/: cart: round once waiting .* push Ada/);
  });

  it("filters by author, pull request and event, and names an invalid filter", async () => {
    const { ids, page } = await newStage([{}, { event: "pull", pull: PULL, commit: { subject: "x", author: "Bo" } }]);
    const [pushed = "", pulled = ""] = ids;
    for (const [query, shown, hidden] of [
      ["author=Ada", pushed, pulled],
      ["author=Bo", pulled, pushed],
      ["pull=12", pulled, pushed],
      ["pull=%2312", pulled, pushed],
      ["event=push", pushed, pulled],
      ["event=pull&author=Bo", pulled, pushed],
    ] as const) {
      const markup = await page(`/builds?${query}`);
      expect([query, markup.includes(`b-${shown}`), markup.includes(`b-${hidden}`)]).toEqual([query, true, false]);
    }
    expect(await page("/builds?pull=none&event=push")).toContain("A filter was not applied.");
    expect(await page("/builds?author=Nobody")).toContain("No build matches.");
  });

  it("marks superseded and skipped builds", async () => {
    const { orgId, repoId, page } = await newStage([]);
    for (const reason of ["superseded", "skipped", "canceled"]) {
      await writeSummary(orgId, { repo_id: repoId, status: "canceled", reason, started_at: null });
    }
    const text = textOf(await page("/builds?view=all"));
    for (const word of ["superseded", "skipped", "canceled"])
      expect(text).toMatch(new RegExp(`main canceled ${word} main`));
  });
});

describe("the build page", () => {
  it("shows the pull request and its base branch, and links to its other builds", async () => {
    const { ids, repoId, page } = await newStage([{ event: "pull", pull: PULL }]);
    const markup = await page(`/builds/${ids[0]}`);
    expect(textOf(markup)).toMatch(/cart: round once .* pull request #12 Round once into main by Ada opened by ada /);
    expect(markup).toContain(`href="/app/builds?repoId=${repoId}&amp;pull=12"`);
    expect(markup).toContain(`href="/app/builds?repoId=${repoId}&amp;author=Ada"`);
  });

  it("names the tag and the schedule", async () => {
    const { ids, page } = await newStage([{ event: "tag" }, { event: "schedule", schedule: "nightly", commit: null }]);
    expect(textOf(await page(`/builds/${ids[0]}`))).toMatch(/ tag by Ada v1 aaaaaaa /);
    expect(textOf(await page(`/builds/${ids[1]}`))).toMatch(/ schedule nightly /);
  });

  it("links to the superseding build, and explains why a build was skipped", async () => {
    const { orgId, admin, repoId, ids, page } = await newStage([{}]);
    const ended = async (more: Partial<Build>) => {
      const { reason = null, message = null } = more;
      const row = await writeSummary(orgId, { repo_id: repoId, status: "canceled", reason, message, pull_number: 12 });
      const { body } = await call<Build>(admin, "GET", `/build/${row.id}`);
      await putRecord(env.ARCHIVE, { ...body, ...more });
      return page(`/builds/${row.id}`);
    };
    const superseded = await ended({
      reason: "superseded",
      supersededBy: ids[0] ?? null,
      base: "b".repeat(40),
      pull: PULL,
    });
    expect(superseded).toContain(`superseded by <a href="/app/builds/${ids[0]}">#1</a>`);
    expect(textOf(superseded)).toMatch(/#12 Round once into main opened by ada base bbbbbbb/);
    const gone = await ended({ reason: "superseded", supersededBy: crypto.randomUUID() });
    expect(textOf(gone)).toContain("superseded: newer commit");
    expect(textOf(gone)).toContain("#12");
    const message = "No changed file matches docs/**.";
    const skipped = textOf(await ended({ reason: "skipped", message }));
    expect(skipped).toContain("skipped: its file has no trigger for this change");
    expect(skipped).toContain(message);
  });

  it("renders commit and pull request content as text", async () => {
    const text = `"><img src=x onerror=alert(1)>\u202e${"w".repeat(250)}`;
    const commit = { subject: text, author: text };
    const pull = { ...PULL, title: text, author: text, base: text };
    const { ids, page } = await newStage([{ event: "pull", pull, commit, schedule: text }]);
    for (const path of ["/builds", `/builds/${ids[0]}`]) {
      const markup = await page(path);
      expect(markup).not.toContain("<img src=x");
      expect(markup).toContain("&quot;&gt;&lt;img src=x onerror=alert(1)&gt;");
    }
  });
});
