import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { keepUp } from "../../../src/services/upkeep/upkeep.ts";
import { call, create, newOrganization, newPipeline, newRepository, newToken } from "../../support/api.ts";
import { writeEndedBuild } from "../../support/ended-builds.ts";
import { HOSTILE } from "../../support/hostile-texts.ts";
import { madeByText } from "../log-viewer/made-by-text.ts";
import { type Person, personWith } from "../shell/page-requests.ts";

const MINUTE_MS = 60_000;

const upkeep = () => keepUp(env, new Date(), { buildDays: 90, auditDays: 400 });

/** Returns the round trips to D1 and the rows read. */
const costOf = (headers: Headers): number[] =>
  (/rounds=(\d+) read=(\d+)/.exec(headers.get("Server-Timing") ?? "") ?? []).slice(1).map(Number);

describe("the overview", () => {
  let orgId: string;
  let admin: string;
  let repoId: string;
  let person: Person;

  beforeAll(async () => {
    ({ orgId, admin } = await newOrganization());
    repoId = (await newRepository(admin)).id;
    person = await personWith(admin);
  });

  const ended = (pipelineId: string, minutesAgo: number, more: object = {}) =>
    writeEndedBuild(env.DB, { orgId, repoId, pipelineId, at: Date.now() - minutesAgo * MINUTE_MS, ...more });

  it("shows the first steps when there are no builds", async () => {
    const { status, text } = await person.open("");
    expect(status).toBe(200);
    expect(text).toContain("No builds yet");
    expect(text).toContain("Add an agent");
  });

  it("shows a failing default branch to everyone, and other builds only to the person who started them", async () => {
    const ci = await newPipeline(admin, repoId);
    const { body: self } = await call(admin, "GET", "/token/self");
    const red = await ended(ci.id, 2, { status: "failed", subject: "cart: round once", author: "Ada" });
    await ended(ci.id, 3, {
      ...{ status: "failed", ref: "refs/heads/mine", subject: "what I asked for" },
      createdBy: { kind: "token", id: self.id, name: "x" },
    });
    await upkeep();
    const viewer = await personWith(await newToken(admin, "viewer"));
    const [own, others] = [await person.open(""), await viewer.open("")];
    for (const { text } of [own, others]) {
      expect(text).toContain("1 pipeline is failing on main");
      expect(text).toContain("cart: round once");
      expect(text).toContain(`href="/app/builds/${red}"`);
    }
    expect(own.text).toContain("what I asked for");
    expect(others.text).not.toContain("what I asked for");
    expect(own.text).not.toContain(" style=");
  });

  describe("with a failing default branch", () => {
    /** Returns the words for the person, and the words in the pipeline's row. */
    const shown = async (pipelineId: string): Promise<string[]> => {
      await upkeep();
      const { text } = await person.open("");
      const part = (id: string) => new RegExp(`id="${id}".*?</(?:li|tr)>`, "s").exec(text)?.[0] ?? "";
      return ["red", "p"].map((kind) =>
        part(`${kind}-${pipelineId}`)
          .replaceAll(/<svg class="bars.*?<\/svg>|<[^>]*>/gs, " ")
          .replaceAll(/\s+(?=([,.]?))/g, (_, mark) => (mark ? "" : " ")),
      );
    };
    const newCi = async () => (await newPipeline(admin, repoId, { name: crypto.randomUUID() })).id;

    it("names the first failed commit and its author, not the newest, even after a retry", async () => {
      const ci = await newCi();
      await ended(ci, 5, { commit: "a" });
      const grace = { number: 72, commit: "b", subject: "ledger: round per line", author: "Grace" };
      const first = await ended(ci, 4, { ...grace, status: "failed" });
      await ended(ci, 3.6, { commit: "c", status: "failed", author: "Edsger" });
      const newest = { status: "failed", commit: "d", subject: "deps: bump zod", author: "Barbara" };
      const last = await ended(ci, 3.3, newest);
      const [red, row] = await shown(ci);
      expect(red).toContain("ledger: round per line");
      expect(red).toMatch(/failing since #72 by Grace, 3 min ago, 3 commits/);
      expect(red).not.toContain("Barbara");
      expect(row).toContain("failed");
      const again = await ended(ci, 2, { ...newest, number: 75, retryOf: last });
      expect((await shown(ci))[0]).toMatch(/failing since #72 by Grace, 3 min ago, 3 commits.*#75/);
      const { text } = await person.open("");
      for (const id of [first, again]) expect(text).toContain(`href="/app/builds/${id}"`);
    });

    it("names nobody if the first failure is unknown, or if its commit had passed before", async () => {
      const ci = await newCi();
      await ended(ci, 5, { number: 81, commit: "a", status: "failed", author: "Grace" });
      expect((await shown(ci))[0]).toMatch(/failing since #81 or earlier, /);
      expect((await shown(ci))[0]).not.toContain("Grace");
      await ended(ci, 4, { commit: "b", author: "Ada" });
      await ended(ci, 3, { number: 83, commit: "b", author: "Ada", status: "failed", event: "schedule" });
      expect((await shown(ci))[0]).toMatch(/failing since #83, on a commit that had passed, /);
      expect((await shown(ci))[0]).not.toContain("Ada");
    });

    it("stays red beside a green tag, and says which branch it shows", async () => {
      const ci = await newCi();
      await ended(ci, 6, { commit: "a" });
      await ended(ci, 5, { commit: "b", status: "failed", author: "Grace" });
      await ended(ci, 4, { commit: "a", ref: "refs/tags/v1.9", event: "tag" });
      const [red, row] = await shown(ci);
      expect(red).toContain("on main");
      expect(row).toMatch(/ failed .* main /);
      expect(row).not.toContain("v1.9");
      await ended(ci, 3, { commit: "c" });
      await ended(ci, 2, { commit: "b", ref: "refs/tags/v2.0", event: "tag", status: "failed" });
      const [green, after] = await shown(ci);
      expect(green).toBe("");
      expect(after).toMatch(/ succeeded .* main /);
    });

    it("shows the newest tag by name when only tags are built", async () => {
      const release = await newCi();
      await ended(release, 3, { commit: "a", ref: "refs/tags/v3.0", event: "tag", status: "failed" });
      const [red, row] = await shown(release);
      expect(red).toBe("");
      expect(row).toMatch(/failed.* v3\.0 /);
    });
  });

  it("needs one round trip to D1 and at most 300 rows, with 60 pipelines and as many recent builds", async () => {
    for (let n = 0; n < 60; n++) {
      const { id } = await create(admin, "/pipeline", { repoId, name: `p${n}` });
      await ended(id, 2, { status: n % 6 === 0 ? "failed" : "succeeded" });
    }
    await upkeep();
    const { text, headers } = await person.open("");
    const [rounds, rows] = costOf(headers);
    console.log(`overview: ${rounds} round, ${rows} rows`);
    expect(rounds).toBe(1);
    expect(rows).toBeLessThanOrEqual(300);
    expect(text).toContain("More pipelines");
    const [, more = ""] = /href="\/app(\?cursor=[^"]+)"/.exec(text) ?? [];
    expect((await person.open(more)).text).toContain("Latest pipelines");
  }, 60_000);

  it("renders hostile text as text in every field, and the check detects unescaped text", async () => {
    const { orgId: other, admin: token } = await newOrganization();
    const { id: repo } = await newRepository(token);
    for (const [at, text] of HOSTILE.entries()) {
      const { id } = await newPipeline(token, repo, { name: text.replaceAll(/[\u202a-\u202e]/g, "~") });
      const shared = { orgId: other, repoId: repo, pipelineId: id, subject: text, author: text };
      const since = Date.now() - MINUTE_MS * 2 - at;
      await writeEndedBuild(env.DB, { ...shared, at: since, status: "failed", ref: `refs/tags/${text}` });
      await writeEndedBuild(env.DB, { ...shared, at: since, ref: `refs/heads/${text}`, pull: at + 1 });
    }
    await upkeep();
    const reader = await personWith(token);
    for (const path of ["", "/builds", "/builds?view=all"]) {
      const { text, status } = await reader.open(path);
      expect(status).toBe(200);
      expect(text).toContain("&lt;script&gt;window.__ran=1&lt;/script&gt;");
      for (const hostile of HOSTILE.filter((one) => one.includes("<"))) expect(text).not.toContain(hostile);
      expect(await madeByText(/<main.*<\/main>/s.exec(text)?.[0] ?? "none"), path).toEqual([]);
    }
    expect(await madeByText(`<p title="${HOSTILE[4]}">${HOSTILE[1]}</p>`)).toEqual([
      "p onmouseover",
      "img",
      "img onerror",
    ]);
  }, 60_000);
});
