import { describe, expect, it } from "vitest";
import { call, create, newOrganization } from "../../support/api.ts";
import { newBuildSetup, pollOnce, triggerBuild } from "../../support/build-setup.ts";
import { poolStub } from "../../support/deployment.ts";
import { requestPage, signIn } from "../shell/page-requests.ts";

describe("the build filters", () => {
  it("find builds by branch, ref, commit, agent and trigger, and keep the entered values", async () => {
    const { admin, agent, pipeline, orgId } = await newBuildSetup();
    const cookie = (await signIn(admin)).split(";")[0] ?? "";
    const commitSha = "c".repeat(40);
    const first = await triggerBuild(admin, pipeline.id, { branch: "next", commitSha });
    await pollOnce(agent);
    const { id: second } = await triggerBuild(admin, pipeline.id);
    await call(admin, "POST", `/build/${second}/cancel`);
    await poolStub(orgId).flush();
    const third = await create(admin, `/build/${second}/retry`, {});
    const ofTag = await triggerBuild(admin, pipeline.id, { branch: "refs/tags/v2.3" });
    const text = async (search: string) => (await requestPage(`/builds?view=all&${search}`, { cookie })).text();
    const rows = (page: string) => [...page.matchAll(/ id="b-([^"]+)"/g)].map(([, id]) => id);
    for (const [search, found] of [
      ["", [ofTag.id, third.id, second, first.id]],
      ["branch=next", [first.id]],
      ["branch=refs/heads/next", [first.id]],
      ["branch=refs/tags/next", []],
      ["branch=v2.3", [ofTag.id]],
      ["branch=refs/tags/v2.3", [ofTag.id]],
      ["branch=refs/heads/v2.3", []],
      ["commitSha=CCCCCCC", [first.id]],
      [`agent=${agent.name}`, [first.id]],
      [`agent=${agent.name}&branch=main`, []],
      ["trigger=retry", [third.id]],
      ["trigger=api&status=canceled", [second]],
    ] as const) {
      expect(rows(await text(search)), search).toEqual(found);
    }
    const branchOfThatName = await triggerBuild(admin, pipeline.id, { branch: "v2.3" });
    expect(rows(await text("branch=v2.3"))).toEqual([branchOfThatName.id, ofTag.id]);
    const typed = await text("branch=next&commitSha=ccccccc&trigger=api");
    for (const field of [/name="branch"[^>]* value="next"/, /name="commitSha"[^>]* value="ccccccc"/])
      expect(typed).toMatch(field);
    expect(typed).toContain('<option value="api" selected="">');
    const wrong = await text("agent=<b>&commitSha=ccc&branch=next");
    expect(rows(wrong)).toEqual([first.id]);
    expect(wrong).toMatch(/2 filters were not applied\..*The agent does not exist/s);
    expect(wrong).not.toContain("<b>");
  });
});

describe("an invalid filter value", () => {
  it("is reported with its reason, and the other build filters still apply", async () => {
    const { admin } = await newOrganization();
    const cookie = (await signIn(admin)).split(";")[0] ?? "";
    const repository = {
      fullName: "acme/filtered",
      cloneUrl: "https://git.example/acme/filtered.git",
      gitHostRepoId: 1,
    };
    const { id: repoId } = await create(admin, "/repository", repository);
    for (const branch of ["main", "next"]) await create(admin, "/build", { repoId, branch });
    const text = async (search: string) => (await requestPage(`/builds${search}`, { cookie })).text();
    const rows = (page: string) => [...page.matchAll(/ class="branch">(\w+)</g)].map(([, branch]) => branch);
    expect(rows(await text("?branch=next"))).toEqual(["next"]);
    const wrong = await text("?branch=next&status=<b>");
    expect(rows(wrong)).toEqual(["next"]);
    expect(wrong).toMatch(/A filter was not applied\..*The state must be one of queued, /s);
    expect(wrong).not.toContain("<b>");
    expect(await text("?branch=next")).not.toContain("not applied");
  });

  it("does not affect the other filters of the audit and variable lists", async () => {
    const { admin } = await newOrganization();
    const cookie = (await signIn(admin)).split(";")[0] ?? "";
    await create(admin, "/secrets/groups", { name: "one" });
    const text = async (path: string) => (await requestPage(path, { cookie })).text();
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    expect(await text("/audit?action=group.create")).toContain("<code>group.create</code>");
    const wrong = await text(`/audit?until=tomorrow&since=${tomorrow}`);
    expect(wrong).toMatch(/A filter was not applied\..*The last day /s);
    expect(wrong).toContain("No matching entries");
    expect(await text("/variables?owner=group:nowhere")).toMatch(/The owner must be in the list/);
    expect(await text("/variables")).not.toContain("not applied");
  });
});
