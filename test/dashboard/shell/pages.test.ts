import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { FORMS, PAGES } from "../../../src/dashboard/shell/page-routes.ts";
import { ROLES } from "../../../src/protocol/token.ts";
import { create, newOrganization } from "../../support/api.ts";
import { finishNewJob, newBuildSetup, triggerBuild } from "../../support/build-setup.ts";
import { poolStub } from "../../support/deployment.ts";
import { writeEndedBuild } from "../../support/ended-builds.ts";
import { planNextBuild, startNextJob } from "../../support/jobs.ts";
import { cookieFor, ORIGIN, personWith, requestPage, sendForm, signIn } from "./page-requests.ts";

describe("a repository connected without its number", () => {
  it("gets a stable whole number from its clone address, above the git hosts' numbers", async () => {
    const { admin } = await newOrganization();
    const cookie = (await signIn(admin)).split(";")[0] ?? "";
    const connect = (name: string) =>
      sendForm(
        "/repositories/new",
        cookie,
        { Origin: ORIGIN },
        {
          fullName: `acme/${name}`,
          cloneUrl: `https://git.example/acme/${name}.git`,
          gitHostRepoId: "",
        },
      );
    expect([(await connect("one")).status, (await connect("two")).status]).toEqual([303, 303]);
    const again = await connect("one");
    expect([again.status, await again.text()]).toEqual([422, expect.stringContaining("It already exists")]);
    const listed = await exports.default.fetch(
      new Request(`${ORIGIN}/repository`, { headers: { Authorization: `Bearer ${admin}` } }),
    );
    const numbers = ((await listed.json()) as { gitHostRepoId: number }[]).map(({ gitHostRepoId }) => gitHostRepoId);
    expect(new Set(numbers).size).toBe(2);
    for (const number of numbers) {
      expect(Number.isSafeInteger(number)).toBe(true);
      expect(number).toBeGreaterThan(2 ** 52 - 1);
    }
  });
});

describe("every form", () => {
  const paths = [...FORMS.map(({ path }) => path), "/sign-in", "/sign-out", "/theme", "/pipelines/check"];

  it("is rejected unless it comes from a page of this origin", async () => {
    const cookie = await cookieFor("admin");
    const others = [{}, { Origin: "null" }, { Origin: "http://millrace.test" }, { Origin: `${ORIGIN}.evil.example` }];
    const sites = [
      { Origin: ORIGIN, "Sec-Fetch-Site": "same-site" },
      { Origin: ORIGIN, "Sec-Fetch-Site": "cross-site" },
    ];
    for (const path of paths) {
      for (const headers of [...others, ...sites] as Record<string, string>[]) {
        const answer = await sendForm(path, cookie, headers);
        expect(answer.status, `${path} ${JSON.stringify(headers)}`).toBe(403);
        expect(await answer.text()).toContain("This request came from another site");
      }
    }
  });

  it("changes only the version that its page showed, or else shows the current page again", async () => {
    const { admin } = await newOrganization();
    const cookie = (await signIn(admin)).split(";")[0] as string;
    const { id } = await create(admin, "/secrets/groups", { name: "first" });
    const save = (name: string) =>
      sendForm(`/groups/${id}`, cookie, { Origin: ORIGIN }, { name, description: "", version: "1" });
    expect((await save("second")).status).toBe(303);
    const late = await save("third");
    expect(late.status).toBe(422);
    const text = await late.text();
    expect(text).toContain("The record has changed since you read it");
    expect(text).toContain('name="version" value="2"');
    expect(text).toContain("second");
  });

  it("when rejected, counts the wrong fields, shows each error once at its field, and focuses the first", async () => {
    const cookie = await cookieFor("maintainer");
    const form = { fullName: "no-owner", cloneUrl: "nowhere", gitHostRepoId: "7", defaultBranch: "" };
    const answer = await sendForm("/repositories/new", cookie, { Origin: ORIGIN }, form);
    expect(answer.status).toBe(422);
    const text = await answer.text();
    expect(text).toMatch(/<strong>1 field needs a change\.<\/strong> Nothing was changed\./);
    expect(text).not.toContain("<code>fullName</code>");
    expect(text.match(/must have the form/g)).toHaveLength(1);
    expect(text).toMatch(/<input id="fullName"[^>]* aria-invalid="true"[^>]* autofocus/);
    expect(text.match(/ autofocus/g)).toHaveLength(1);
  });

  it("is rejected below its role, and without a session", async () => {
    const cookies = Object.fromEntries(await Promise.all(ROLES.map(async (role) => [role, await cookieFor(role)])));
    for (const { path, access } of FORMS) {
      const anyone = await sendForm(path, undefined, { Origin: ORIGIN });
      expect([path, anyone.headers.get("Location")]).toEqual([path, "/app/sign-in"]);
      for (const role of ROLES.slice(0, ROLES.indexOf(access.role ?? "admin"))) {
        expect((await sendForm(path, cookies[role], { Origin: ORIGIN })).status, `${role} ${path}`).toBe(403);
      }
    }
  });
});

describe("every page", () => {
  it("requires a session and a role, and loads nothing from other sites", async () => {
    const viewer = await cookieFor("viewer");
    const admin = await cookieFor("admin");
    for (const { path, role } of PAGES) {
      expect((await requestPage(path)).headers.get("Location")).toMatch(/^\/app\/sign-in\?next=/);
      if (role !== "viewer") expect((await requestPage(path, { cookie: viewer })).status, path).toBe(403);
      const answer = await requestPage(path, { cookie: admin });
      expect([200, 404], path).toContain(answer.status);
      const policy = answer.headers.get("Content-Security-Policy") ?? "";
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).not.toContain("unsafe");
      expect(answer.headers.get("Cache-Control")).toBe("no-store");
      expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(await answer.text()).not.toMatch(
        /<script(?! type="module" src="\/app\/static\/)|<style|\sstyle=|\son\w+=/,
      );
    }
  });

  it("contains no API field names in its text", async () => {
    const cookie = await cookieFor("admin");
    const asPeopleWrite = ["macOS", "iOS", "mDNS"];
    for (const { path } of PAGES) {
      const text = await (await requestPage(path, { cookie })).text();
      const words = text
        .slice(text.indexOf("<body"))
        .replace(/<(code|pre|textarea|kbd|title|script)\b.*?<\/\1>/gs, " ")
        .replace(/<[^>]*>/g, " ");
      const names = (words.match(/\b[a-z]+[A-Z][A-Za-z]*\b/g) ?? []).filter((word) => !asPeopleWrite.includes(word));
      expect([path, names]).toEqual([path, []]);
    }
  });

  it("lists each of its keys in the keyboard shortcuts", async () => {
    const cookie = await cookieFor("admin");
    for (const { path } of PAGES) {
      const text = await (await requestPage(path, { cookie })).text();
      const told = [...text.matchAll(/<kbd>([^<]+)<\/kbd>/g)].map(([, key]) => key);
      const used = [...text.matchAll(/ data-key="([^"]+)"/g)].map(([, key]) => key);
      expect(used.length).toBeGreaterThan(5);
      expect([path, used.filter((key) => !told.includes(key))]).toEqual([path, []]);
    }
  });

  it("shows nothing from another organization", async () => {
    const { admin } = await newOrganization();
    const owner = { fullName: "acme/theirs", cloneUrl: "https://git.example/acme/theirs.git", gitHostRepoId: 1 };
    const { id } = await create(admin, "/repository", owner);
    const cookie = await cookieFor("admin");
    const theirs = await requestPage(`/repositories/${id}`, { cookie });
    expect(theirs.status).toBe(404);
    expect(await theirs.text()).not.toContain("theirs");
    expect(await (await requestPage("/repositories", { cookie })).text()).not.toContain("theirs");
  });
});

describe("the repository list", () => {
  it("links to pipelines, names some of them, and finds a repository by a pipeline's name", async () => {
    const { admin } = await newOrganization();
    const owner = { fullName: "acme/shop", cloneUrl: "https://git.example/acme/shop.git", gitHostRepoId: 7 };
    const { id: repoId } = await create(admin, "/repository", owner);
    const ids: string[] = [];
    for (let n = 0; n < 8; n++) ids.push((await create(admin, "/pipeline", { repoId, name: `<i>${n}</i>` })).id);
    const cookie = (await signIn(admin)).split(";")[0] as string;
    const text = await (await requestPage("/repositories", { cookie })).text();
    expect(text).toContain(`<a href="/app/pipelines/${ids[0]}"><bdi>&lt;i&gt;0&lt;/i&gt;</bdi></a>`);
    expect(ids.filter((id) => text.includes(`/app/pipelines/${id}`))).toHaveLength(6);
    expect(text).toContain("and 2 more");
    const found = async (q: string) => (await requestPage(`/repositories?q=${q}`, { cookie })).text();
    expect(await found("%3Ci%3E7")).toContain("acme/shop");
    expect(await found("nothing")).toContain("No repository matches.");
  });
});

describe("the repository page", () => {
  it("offers to remove a credential only if there is one", async () => {
    const { admin } = await newOrganization();
    const owner = { fullName: "acme/shop", cloneUrl: "https://git.example/acme/shop.git", gitHostRepoId: 7 };
    const { id } = await create(admin, "/repository", owner);
    const cookie = (await signIn(admin)).split(";")[0] as string;
    const offers = async () =>
      (await (await requestPage(`/repositories/${id}`, { cookie })).text()).includes(`/${id}/credential/remove`);
    expect(await offers()).toBe(false);
    const set = await sendForm(
      `/repositories/${id}/credential`,
      cookie,
      { Origin: ORIGIN },
      { kind: "token", value: "t".repeat(20) },
    );
    expect(set.status).toBe(303);
    expect(await offers()).toBe(true);
  });
});

describe("the variable page", () => {
  const DAY_MS = 86_400_000;
  const FILE = "jobs:\n  lint: { steps: [{ run: lint }] }\n";

  it("lists the first build of each day, and links to all of its owner's builds since", async () => {
    const setup = await newBuildSetup();
    const { admin, orgId, repository, pipeline, agent } = setup;
    const owner = { scope: "repository", repoId: repository.id };
    const { id } = await create(admin, "/secrets/variables", {
      key: "K",
      value: "some value",
      isSecret: true,
      ...owner,
    });
    const [first, second] = [await finishNewJob(setup), await finishNewJob(setup)];
    await poolStub(orgId).flush();
    const person = await personWith(admin);
    const { text } = await person.open(`/variables/${id}`);
    expect(text).toContain("First build of each day that used it");
    expect(text).toContain(`/app/builds/${first.build.id}`);
    expect(text).not.toContain(`/app/builds/${second.build.id}`);
    expect(text).toMatch(/last used <time [^>]*>today</);
    const [, since = ""] = /href="(\/app\/builds\?[^"]+)"[^>]*>all builds since/.exec(text) ?? [];
    expect(since).toContain(`repoId=${repository.id}`);
    const all = await person.open(since.replace("/app", "").replaceAll("&amp;", "&"));
    for (const { build } of [first, second]) expect(all.text).toContain(`id="b-${build.id}"`);
    expect(all.text).not.toContain("not applied");
    const day = (ago: number) => new Date(Date.now() + ago * DAY_MS).toISOString().slice(0, 10);
    expect((await person.open(`/builds?view=all&since=${day(1)}`)).text).toContain("No build matches");
    await env.DB.prepare("UPDATE variable SET last_used_at = ? WHERE id = ?")
      .bind(`${day(-1)}T23:59:59Z`, id)
      .run();
    expect((await person.open("/variables")).text).toMatch(/<time [^>]*>yesterday</);

    await env.DB.prepare("DELETE FROM variable_day").run();
    await triggerBuild(admin, pipeline.id);
    await planNextBuild(agent, FILE);
    const { job } = await startNextJob(agent);
    await poolStub(orgId).flush();
    const { text: ofJob } = await person.open(`/variables/${id}`);
    const [link] = /\/app\/(?:jobs|builds)\/[0-9a-f-]{36}/.exec(ofJob) ?? [];
    expect(link).toBe(`/app/jobs/${job?.id}`);
    expect((await person.open(link!.replace("/app", ""))).status).toBe(200);
  });

  it("shows twenty days, and all days on request, each build by its name", async () => {
    const setup = await newBuildSetup();
    const { admin, orgId, repository, pipeline } = setup;
    const owner = { scope: "organization", orgId };
    const { id } = await create(admin, "/secrets/variables", {
      key: "K",
      value: "some value",
      isSecret: true,
      ...owner,
    });
    const person = await personWith(admin);
    const uses = async (query = "") => {
      const { text } = await person.open(`/variables/${id}${query}`);
      return { text, builds: [...text.matchAll(/href="\/app\/builds\/[0-9a-f-]{36}">#\d+ /g)].length };
    };
    const useOn = async (ago: number) => {
      const at = Date.now() - ago * DAY_MS;
      const build = await writeEndedBuild(env.DB, { orgId, repoId: repository.id, pipelineId: pipeline.id, at });
      const day = new Date(at).toISOString();
      await env.DB.prepare(
        "INSERT INTO variable_day (variable_id, day, build_id, agent_id, at) VALUES (?, ?, ?, 'a', ?)",
      )
        .bind(id, day.slice(0, 10), build, day)
        .run();
    };
    for (let ago = 0; ago < 20; ago++) await useOn(ago);
    expect((await uses()).builds).toBe(20);
    expect((await uses()).text).not.toContain("?uses=all");
    for (let ago = 20; ago < 105; ago++) await useOn(ago);
    const some = await uses();
    expect(some.builds).toBe(20);
    expect(some.text).toContain("Show all 105 days");
    const all = await uses("?uses=all");
    expect(all.builds).toBe(105);
    expect(all.text).not.toContain("Show all");
  });
});
