import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { gitHostName } from "../../../src/domain/durable-objects.ts";
import type { GitHostObject } from "../../../src/objects/host/git-host.ts";
import type { Build } from "../../../src/protocol/build.ts";
import type { Connection } from "../../../src/protocol/connection.ts";
import type { HostDelivery } from "../../../src/protocol/delivery.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import type { Role } from "../../../src/protocol/token.ts";
import { call, create, newOrganization, newPipeline, newToken } from "../../support/api.ts";
import { poolStub } from "../../support/deployment.ts";
import { eventHeaders, send, signDelivery } from "../../support/hooks.ts";
import { HOST_TOKEN, newHost } from "../../support/host-at.ts";
import { newPush, SHA } from "../../support/host-events.ts";
import { type Person, personWith } from "../shell/page-requests.ts";

const HOSTILE = `"><img src=x onerror=alert(1)>`;

/** Returns the address and the secret that a page shows for copying. */
const shownIn = (text: string) => {
  const [url = "", secret = ""] = [...text.matchAll(/<div class="copied"><pre[^>]*>([^<]*)</g)].map(
    ([, shown]) => shown,
  );
  return { url, secret, token: url.split("/hook/")[1] ?? "" };
};

describe("a connection with manual webhooks", () => {
  let admin: Person;
  let token: string;
  let connection: Connection;
  const people = {} as Record<Role, Person>;

  beforeAll(async () => {
    const organization = await newOrganization();
    token = organization.admin;
    admin = await personWith(token);
    for (const role of ["viewer", "member", "maintainer"] as const) {
      people[role] = await personWith(await newToken(token, role));
    }
    const form = { kind: "github", name: "our GitHub", webUrl: "https://github.com", way: "hand", token: "" };
    const made = await admin.submit("/connections/new", form);
    expect(made, made.text).toMatchObject({ status: 303 });
    const listed = (await call<Connection[]>(token, "GET", "/connection")).body;
    connection = listed[0] as Connection;
    expect(made.to).toBe(`/app/connections/${connection.id}?done=host-connected`);
  });

  const hookOf = async () => shownIn((await admin.submit(`/connections/${connection.id}/hook`)).text);

  const push = async (sha: string, facts: Parameters<typeof newPush>[1]) => {
    const hook = await hookOf();
    const body = new Uint8Array(new TextEncoder().encode(JSON.stringify(newPush(sha, facts))));
    const proof = await signDelivery({ kind: "github", secret: hook.secret }, body);
    const headers = { ...eventHeaders("github", "push"), ...proof };
    const answer = await send(`/hook/${hook.token}`, { method: "POST", headers, body });
    expect(answer, answer.text).toMatchObject({ status: 202 });
  };

  it("shows its webhook URL and secret only to admins, and records each time in the audit log", async () => {
    const shown = await admin.submit(`/connections/${connection.id}/hook`);
    const hook = shownIn(shown.text);
    expect(hook.url).toMatch(/^https:\/\/millrace\.test\/hook\/mrh_/);
    expect(hook.secret.length).toBeGreaterThan(30);
    expect(shown.text).toContain("https://github.com/<em>owner/repository</em>/settings/hooks/new");
    expect(shown.text).toMatch(
      /Pull requests, Repositories, and,\s+if\s+you\s+use\s+a\s+merge\s+queue,\s+Merge\s+groups/,
    );
    expect(shown.text).toContain('href="/docs/connect/github.md"');
    const { body } = await call(token, "GET", "/audit?action=connection.reveal");
    expect(body.length).toBeGreaterThan(0);
    for (const person of Object.values(people)) {
      const refused = await person.submit(`/connections/${connection.id}/hook`);
      expect(refused.status).toBe(403);
      expect(refused.text).not.toContain(hook.secret);
    }
    for (const path of ["", "/deliveries", "/repositories", "/check", "/rotate", "/delete"]) {
      const page = await admin.open(`/connections/${connection.id}${path}`);
      expect([path, page.status]).toEqual([path, 200]);
      expect(page.headers.get("Cache-Control")).toBe("no-store");
      expect(page.text).not.toContain(hook.secret);
      expect(page.text).not.toContain(hook.token);
    }
  });

  it("is visible to maintainers and admins, and answers 403 to viewers and members", async () => {
    for (const role of ["viewer", "member"] as const) {
      expect((await people[role].open("/builds")).text).not.toContain('href="/app/connections"');
      for (const path of [
        "/connections",
        `/connections/${connection.id}`,
        `/connections/${connection.id}/deliveries`,
      ]) {
        expect((await people[role].open(path)).status).toBe(403);
      }
    }
    const { text } = await people.maintainer.open(`/connections/${connection.id}`);
    expect(text).toContain("Add repositories");
    for (const word of ["Show URL and secret", "Rotate", "Delete connection", "Save"]) expect(text).not.toContain(word);
    expect((await people.maintainer.open("/connections")).text).not.toContain('href="/app/connections/new"');
    expect((await people.maintainer.open("/connections/new")).status).toBe(403);
  });

  it("shows the first twenty builds of a delivery, and the number of the others", async () => {
    const path = `/connections/${connection.id}/deliveries`;
    expect((await admin.open(path)).text).toContain("No deliveries yet.");
    const builds = Array.from({ length: 500 }, () => crypto.randomUUID());
    const hosts = env.GIT_HOST as DurableObjectNamespace<GitHostObject>;
    await hosts.getByName(gitHostName(connection.orgId, connection.id)).noteDelivery({
      ...{ id: "many", at: Date.now(), event: "push", repository: null, ref: null, sha: null },
      ...{ builds, ignored: null, arrival: null },
    });
    const { text } = await admin.open(path);
    expect(text.match(/href="\/app\/builds\//g)).toHaveLength(20);
    expect(text).toContain("and 480 more.");
  });

  it("shows each delivery's result, adds a repository from a delivery, and redelivers it", async () => {
    const path = `/connections/${connection.id}/deliveries`;
    await push(SHA("a"), { id: 77, fullName: "acme/shop", message: `${HOSTILE} once` });
    const before = await people.maintainer.open(path);
    expect(before.text).toContain("No active repository of this connection has this id.");
    expect(before.text).toContain("Add acme/shop</button>");
    const facts = { hostRepoId: "77", fullName: "acme/shop", defaultBranch: "main" };
    const added = await people.maintainer.submit(`/connections/${connection.id}/repositories`, facts);
    const [repository] = (await call<Repository[]>(token, "GET", "/repository")).body;
    expect(added.to).toBe(`/app/repositories/${repository?.id}?done=connected`);
    expect(repository).toMatchObject({ gitHostRepoId: 77, connectionId: connection.id });
    const shown = (await people.maintainer.open(`/repositories/${repository?.id}`)).text;
    expect(shown).toContain("connection <a");
    expect(shown).toContain("so pushes start no builds.");
    expect(shown).toContain(`<a href="/app/repositories/${repository?.id}/pipelines/new">Add the first one</a>`);
    expect((await people.viewer.open(`/repositories/${repository?.id}`)).text).not.toContain("Add the first one");
    await push(SHA("c"), { id: 77, fullName: "acme/shop" });
    const link = `<a href="/app/repositories/${repository?.id}">the repository page</a>`;
    const why = `There is no active pipeline: add one at ${link}.`;
    await expect.poll(async () => (await admin.open(path)).text).toContain(why);
    await newPipeline(token, repository?.id ?? "");
    const [, delivery] = (await call<HostDelivery[]>(token, "GET", `/connection/${connection.id}/delivery`)).body;
    const again = await people.maintainer.submit(path, { delivery: delivery?.id ?? "" });
    expect(again.to).toBe(`/app${path}?done=redelivered`);
    const builds = async () => (await call<Build[]>(token, "GET", "/build")).body;
    await expect.poll(builds).toHaveLength(1);
    const [build] = await builds();
    // The service writes the list of deliveries after its answer.
    await expect.poll(async () => (await admin.open(path)).text).toContain(`href="/app/builds/${build?.id}"`);
    expect((await admin.open(path)).text).toContain("#1</a>");
    expect((await admin.open(`${path}?q=nothing`)).text).toContain("No delivery matches.");
    const list = (await admin.open("/builds")).text;
    expect(list).toContain("&quot;&gt;&lt;img src=x onerror=alert(1)&gt; once");
    expect(list).not.toContain("<img src=x");
    expect((await admin.submit(path, { delivery: "no such delivery" })).status).toBe(404);
  });

  it("can be changed and rotated by an admin, and then shows only the new webhook", async () => {
    const before = await hookOf();
    const page = `/connections/${connection.id}`;
    expect((await admin.submit(`${page}/rotate`)).to).toBe(`/app${page}?done=rotated`);
    expect((await hookOf()).url).not.toBe(before.url);
    const saved = await admin.submit(page, {
      name: "renamed",
      webUrl: "https://github.com",
      apiUrl: "",
      isActive: "on",
    });
    expect(saved.to, saved.text).toBe(`/app${page}?done=saved`);
    const wrong = await admin.submit(page, {
      name: "",
      webUrl: "http://user:pass@10.0.0.1",
      apiUrl: "",
      isActive: "on",
    });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain("Nothing was changed.");
    expect((await call<Connection>(token, "GET", `/connection/${connection.id}`)).body).toMatchObject({
      ...{ name: "renamed", webUrl: "https://github.com", apiUrl: "https://api.github.com", isActive: true },
    });
  });

  it("is deleted after a confirmation that says what is kept", async () => {
    const page = await admin.open(`/connections/${connection.id}/delete`);
    expect(page.text).toContain("Its repositories (1), their pipelines and builds are kept");
    expect((await people.maintainer.submit(`/connections/${connection.id}/delete`)).status).toBe(403);
    expect((await admin.submit(`/connections/${connection.id}/delete`)).to).toBe("/app/connections?done=removed");
    expect((await admin.open("/connections")).text).toContain("No git hosts connected yet");
    expect((await people.maintainer.open("/connections")).text).toContain("Ask an admin to connect one.");
  });
});

describe("a build state that the host rejected", () => {
  it("is shown on the page of the ended build, and keeps the check from passing", async () => {
    const { admin, orgId } = await newOrganization();
    const host = await newHost({ kind: "gitea" });
    const theirs = { kind: "gitea", name: "ours", webUrl: host.webUrl, token: HOST_TOKEN };
    const { id } = await create<Connection>(admin, "/connection", theirs);
    const repository = await create<Repository>(admin, `/connection/${id}/repository`, { hostRepoId: 41 });
    const { id: pipelineId } = await newPipeline(admin, repository.id, { name: "release" });
    const maintainer = await personWith(await newToken(admin, "maintainer"));
    const viewer = await personWith(await newToken(admin, "viewer"));
    const allWell = "The host accepts the token, and all webhooks are in place.";
    expect((await maintainer.open(`/connections/${id}/check`)).text).toContain(allWell);

    const ended = async (commitSha: string) => {
      const build = await create<Build>(admin, "/build", { pipelineId, branch: "main", commitSha });
      await call(admin, "POST", `/build/${build.id}/cancel`);
      await poolStub(orgId).flush();
      return build.id;
    };
    await host.change({ faults: [{ on: `POST /repos/acme/shop/statuses/${SHA("a")}`, answer: 422 }] });
    const [told, refused] = [await ended(SHA("b")), await ended(SHA("a"))];
    const page = async (buildId: string) => (await viewer.open(`/builds/${buildId}`)).text.replaceAll(/<[^>]+>/g, "");
    const sentence = "The git host rejected the status millrace/release: The git host does not accept the status";
    await expect.poll(() => page(refused), { timeout: 10_000 }).toContain(sentence);
    expect(await page(told)).not.toContain("The git host rejected the status");

    // The check reads stored data, which appears a moment after the build's page shows it.
    const check = async () => (await maintainer.open(`/connections/${id}/check`)).text;
    await expect.poll(check, { timeout: 10_000 }).toContain(`href="/app/builds/${refused}"`);
    const text = await check();
    expect(text).not.toContain(allWell);
    expect(text).not.toContain("The host has received all states.");
  });
});

describe("the form that connects a git host", () => {
  it("depends on the host's kind, and rejects a wrong URL at its field without repeating the token", async () => {
    const { admin } = await newOrganization();
    const person = await personWith(admin);
    const cards = (await person.open("/connections/new?kind=subversion")).text;
    for (const kind of ["github", "gitlab", "gitea"]) expect(cards).toContain(`/app/connections/new?kind=${kind}`);
    expect((await person.open("/connections/new?kind=gitea")).text).toContain("Connect Gitea or Forgejo");
    const token = "ghp_a_token_that_no_page_shows";
    const form = { kind: "github", name: HOSTILE, webUrl: "http://localhost", way: "token", token };
    const refused = await person.submit("/connections/new", form);
    expect(refused.status).toBe(422);
    expect(refused.text).toMatch(/<input id="webUrl"[^>]* aria-invalid="true"/);
    expect(refused.text).not.toContain(token);
    expect(refused.text).not.toContain("<img src=x");
    const tokenless = await person.submit("/connections/new", {
      ...form,
      name: "x",
      webUrl: "https://github.com",
      token: "",
    });
    expect(tokenless.text).toMatch(/<textarea id="token"[^>]* aria-invalid="true"/);
  });

  it("answers 404 for another organization's connection", async () => {
    const { admin } = await newOrganization();
    const theirs = await create<Connection>(admin, "/connection", {
      kind: "gitlab",
      name: "theirs",
      webUrl: "https://gitlab.com",
    });
    const person = await personWith((await newOrganization()).admin);
    for (const path of ["", "/deliveries", "/repositories", "/check", "/rotate", "/delete"]) {
      const page = await person.open(`/connections/${theirs.id}${path}`);
      expect([path, page.status, page.text.includes("theirs")]).toEqual([path, 404, false]);
    }
    for (const path of ["/hook", "/rotate", "/delete", "/deliveries"]) {
      expect((await person.submit(`/connections/${theirs.id}${path}`, { delivery: "x" })).status).toBe(404);
    }
  });
});
