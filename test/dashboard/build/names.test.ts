import { expect, it } from "vitest";
import { readNames } from "../../../src/services/builds/names.ts";
import { call, create, newOrganization } from "../../support/api.ts";
import { newBuildSetup, pollOnce, triggerBuild } from "../../support/build-setup.ts";
import { poolStub } from "../../support/deployment.ts";
import { HOSTILE } from "../../support/hostile-texts.ts";
import { callWithLease, finishNextJob, planNextBuild, startNextJob } from "../../support/jobs.ts";
import { personWith } from "../shell/page-requests.ts";

const FILE = "jobs:\n  lint: { steps: [{ run: lint }] }\n  test: { steps: [{ run: test }] }\n";

it("the audit page names builds by number, with clock times", async () => {
  const setup = await newBuildSetup();
  const { orgId, admin, pipeline, agent } = setup;
  await triggerBuild(admin, pipeline.id);
  const { body: job } = await pollOnce(agent);
  await callWithLease(agent, job, "POST", "start");
  await poolStub(orgId).flush();
  const person = await personWith(admin);
  const named = new RegExp(`<a href="/app/builds/${job.build.id}"><bdi>#1 [^<]+ / ${pipeline.name}</bdi></a>`);
  const underWay = (await person.open("/audit?action=build.deliver")).text;
  expect(underWay).toMatch(named);
  expect(underWay).not.toContain("(job)</span>");
  await callWithLease(agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 });
  await poolStub(orgId).flush();
  expect((await person.open("/audit")).text).toMatch(named);
  expect((await person.open("/audit")).text).toMatch(/<time datetime="[^"]+" title="[^"]+ UTC" data-clock/);
});

it("the audit page names active and ended jobs by their build, and links to their pages", async () => {
  const { orgId, admin, pipeline, agent } = await newBuildSetup();
  await triggerBuild(admin, pipeline.id);
  const { ids } = await planNextBuild(agent, FILE);
  const first = await finishNextJob(agent);
  await startNextJob(agent);
  await poolStub(orgId).flush();
  const person = await personWith(admin);
  for (const id of Object.values(ids)) {
    const named = new RegExp(`<a href="/app/jobs/${id}"><bdi>#1 [^<]+ / ${pipeline.name}</bdi></a>`);
    expect((await person.open("/audit?action=build.deliver")).text).toMatch(named);
  }
  expect(Object.values(ids)).toContain(first.job?.id);
});

it("the audit page names every kind of record, hostile names as text, and deleted records by kind", async () => {
  const { admin, orgId } = await newOrganization();
  const name = `x ${HOSTILE[1]}`;
  const group = await create(admin, "/secrets/groups", { name });
  const owner = { fullName: "acme/shop", cloneUrl: "https://git.example/acme/shop.git", gitHostRepoId: 7 };
  const repository = await create(admin, "/repository", owner);
  const pipeline = await create(admin, "/pipeline", { repoId: repository.id, name: "ci" });
  const variable = await create(admin, "/secrets/variables", {
    key: "KEY",
    value: "v",
    isSecret: false,
    scope: "organization",
    orgId,
  });
  const connection = await create(admin, "/connection", { kind: "github", name, webUrl: "https://github.com" });
  const schedule = await create(admin, "/schedule", { pipelineId: pipeline.id, name: "nightly", cron: "0 2 * * *" });
  const gone = await create(admin, "/secrets/groups", { name: "gone" });
  expect((await call(admin, "DELETE", `/secrets/groups/${gone.id}`)).status).toBe(204);
  const { text } = await (await personWith(admin)).open("/audit");
  const link = (page: string, id: string, shown: string) => `<a href="/app/${page}/${id}"><bdi>${shown}</bdi></a>`;
  expect(text).toContain(link("repositories", repository.id, "acme/shop"));
  expect(text).toContain(link("pipelines", pipeline.id, "acme/shop / ci"));
  expect(text).toContain(link("variables", variable.id, "KEY"));
  expect(text).toContain(link("schedules", schedule.id, "nightly"));
  for (const [page, id] of [
    ["groups", group.id],
    ["connections", connection.id],
  ])
    expect(text).toMatch(new RegExp(`<a href="/app/${page}/${id}"><bdi>x `));
  expect(text).toContain(`<span title="${gone.id}" class="hint">group ${gone.id.slice(-8)}</span>`);
  expect(text).not.toContain("<img src=x");
  expect(text.replace(/ (?:title|href|id|value)="[^"]*"|<pre>[^<]*<\/pre>/g, "")).not.toMatch(
    /[0-9a-f]{8}-[0-9a-f]{4}-7/,
  );
});

it("the audit page names no records of another organization", async () => {
  const { admin } = await newOrganization();
  const theirs = await create(admin, "/secrets/groups", { name: "theirs" });
  const mine = await newOrganization();
  const { text } = await (await personWith(mine.admin)).open(`/audit?subject=${theirs.id}`);
  expect(text).not.toContain("theirs");
});

it("reading names sends no query when there is nothing to name", async () => {
  expect(await readNames({} as Parameters<typeof readNames>[0], {})).toEqual(new Map());
});
