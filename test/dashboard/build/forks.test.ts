import { describe, expect, it } from "vitest";
import { call, newOrganization, newPipeline, newRepository, newToken } from "../../support/api.ts";
import { attachRepository, deliver, eventHeaders, newConnection } from "../../support/hooks.ts";
import { newPull, SHA } from "../../support/host-events.ts";
import { personWith } from "../shell/page-requests.ts";

const HOSTILE = `<img src=x onerror=alert(1)>`;

/** Creates a fork's build that waits for approval, and the people who view its page. */
const stage = async () => {
  const { orgId, admin } = await newOrganization();
  const { id: repoId } = await newRepository(admin, 1);
  await newPipeline(admin, repoId);
  const hook = await newConnection(orgId, "github");
  await attachRepository(repoId, hook);
  await call(admin, "PUT", `/repository/${repoId}`, { forks: "approval" });
  const told = newPull("opened", SHA("1"), { forkOf: 9, author: HOSTILE, sender: HOSTILE, title: HOSTILE });
  const { body } = await deliver(hook, eventHeaders("github", "pull_request"), told);
  const person = async (role: "viewer" | "member" | "maintainer") => personWith(await newToken(admin, role));
  return { admin, repoId, id: body.builds[0]!, person };
};

describe("the page of a fork's waiting build", () => {
  it("names the commit's author, and shows the approval form only to people who may answer", async () => {
    const { id, person, admin } = await stage();
    const member = await person("member");
    const { text } = await member.open(`/builds/${id}`);
    expect(text).toContain("The build is waiting for approval");
    expect(text).toContain("Commit 1111111 by &lt;img");
    expect(text.replaceAll(/<[^>]+>/g, "")).toContain("Approving runs the build at 1111111");
    expect(text).not.toContain(HOSTILE);
    expect(text).toContain(`action="/app/jobs/${id}/approve"`);
    expect((await (await person("viewer")).open(`/builds/${id}`)).text).not.toContain("/approve");
    expect((await (await person("viewer")).submit(`/jobs/${id}/approve`)).status).toBe(403);
    const { to } = await member.submit(`/jobs/${id}/approve`, { comment: "looks fine" });
    expect(to).toContain(`/app/builds/${id}`);
    const approved = (await call(admin, "GET", `/build/${id}`)).body;
    expect(approved.approval.decision).toMatchObject({ approved: true, comment: "looks fine" });
    const { text: after } = await member.open(`/builds/${id}`);
    expect(after).not.toContain("/approve");
    expect(after.replaceAll(/<[^>]+>/g, " ")).toMatch(/Approved by\s+member.*looks fine/);
  });

  it("links to the commit's changes at the host for everyone who can see the build", async () => {
    const { id, person } = await stage();
    const viewer = await person("viewer");
    expect((await viewer.open(`/builds/${id}`)).text).toContain(`href="/app/builds/${id}/changes"`);
    const { status, headers } = await viewer.open(`/builds/${id}/changes`);
    expect([status, headers.get("Location")]).toEqual([
      302,
      `https://github.com/acme/app-1/compare/main...${SHA("1")}`,
    ]);
    const stranger = personWith((await newOrganization()).admin);
    expect((await (await stranger).open(`/builds/${id}/changes`)).status).toBe(404);
  });

  it("accepts an answer only for the commit that the person reviewed", async () => {
    const { id, person, admin } = await stage();
    const member = await person("member");
    expect((await member.open(`/builds/${id}`)).text).toContain(`name="commitSha" value="${SHA("1")}"`);
    const refused = await member.submit(`/jobs/${id}/approve`, { commitSha: SHA("2") });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("The build is waiting for approval");
    expect((await call(admin, "GET", `/build/${id}`)).body).toMatchObject({
      status: "queued",
      approval: { decision: null },
    });
    expect((await member.submit(`/jobs/${id}/approve`, { commitSha: SHA("1") })).status).toBe(303);
  });

  it("rejects the build with the Reject button", async () => {
    const { id, person, admin } = await stage();
    await (await person("member")).submit(`/jobs/${id}/reject`, { comment: "no" });
    expect((await call(admin, "GET", `/build/${id}`)).body).toMatchObject({
      status: "canceled",
      reason: "gate-closed",
    });
  });
});

describe("the repository page", () => {
  it("sets whose code is built, and under which conditions", async () => {
    const { repoId, person, admin } = await stage();
    const maintainer = await person("maintainer");
    const path = `/repositories/${repoId}`;
    expect((await maintainer.open(path)).text).toMatch(/value="approval" selected/);
    const { body: before } = await call(admin, "GET", `/repository/${repoId}`);
    const { fullName, cloneUrl, connectionId } = before;
    const form = { fullName, cloneUrl, connectionId, defaultBranch: "main", isActive: "on" };
    const sources = { forks: "members", untrustedAuthors: "renovate[bot]\n dependabot[bot] " };
    expect((await maintainer.submit(path, { ...form, ...sources })).status).toBe(303);
    expect((await call(admin, "GET", `/repository/${repoId}`)).body).toMatchObject({
      ...{ forks: "members", untrustedAuthors: ["renovate[bot]", "dependabot[bot]"], connectionId },
    });
    expect((await maintainer.submit(path, { ...form, ...sources, forks: "all" })).status).toBe(422);
  });
});
