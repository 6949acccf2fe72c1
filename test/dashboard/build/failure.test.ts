import { describe, expect, it } from "vitest";
import { call } from "../../support/api.ts";
import { triggerBuild } from "../../support/build-setup.ts";
import { poolStub } from "../../support/deployment.ts";
import { callWithLease, startNextJob } from "../../support/jobs.ts";
import { newStartedBuild } from "../../support/new-builds.ts";
import { personWith } from "../shell/page-requests.ts";

const AT = "2026-11-22T12:00:00.000Z";
const HOSTILE = `"><img src=x onerror=alert(1)>\u202e`;

/** Creates a build whose step `test` failed after printing this text. A later step still ran. */
const failed = async (output: string, later = "") => {
  const setup = await newStartedBuild();
  const { agent, job, admin, id } = setup;
  const before = "fetched the commit\n";
  const bytes = new TextEncoder().encode(before + output + later);
  const headers = { "X-Lease": String(job.lease) };
  await call(agent.token, "PUT", `/build/${id}/log?offset=0`, bytes as never, headers);
  const at = (text: string) => new TextEncoder().encode(text).length;
  const step = (name: string, more: object) => ({
    ...{ id: null, name, status: "succeeded", exitCode: 0, startedAt: AT, finishedAt: AT, ...more },
  });
  const steps = [step("test", { status: "failed", exitCode: 3, logOffset: at(before) })];
  if (later) steps.push(step("clean up", { logOffset: at(before + output) }));
  expect((await callWithLease(agent, job, "POST", "progress", { steps })).status).toBe(204);
  const ended = await callWithLease(agent, job, "POST", "finish", { status: "failed", exitCode: 3 });
  expect(ended, ended.text).toMatchObject({ status: 200 });
  const person = await personWith(admin);
  return { ...setup, person, page: await person.open(`/builds/${id}`) };
};

const text = (markup: string): string => markup.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
const band = (markup: string): string => /<section class="failure".*?<\/section>/s.exec(markup)?.[0] ?? "";

describe("the failed build page", () => {
  it("starts with the failed step, the error line and its context", async () => {
    const { page } = await failed("ok 1\nok 2\nError: it broke\nat cart.ts:41\n");
    expect(text(band(page.text))).toMatch(
      /test failed, exit 3 Error: it broke .* ok 1 ok 2 Error: it broke at cart.ts:41/,
    );
    expect(page.text.indexOf('class="failure"')).toBeLessThan(page.text.indexOf('id="waterfall"'));
    expect(band(page.text)).toContain('href="#at-29"');
  });

  it("shows the log's last lines as a terminal does when scripts are off", async () => {
    const { page } = await failed("10%\rError: disk full\r\x1b[0m\r\nno\b\bgone\n");
    expect(page.text).toContain("fetched the commit\nError: disk full\ngone\n");
  });

  it("shows no lines from earlier or later steps", async () => {
    const { page } = await failed("Error: own\n", "Error: of another step\n".repeat(10_000));
    expect(band(page.text)).toContain("Error: own");
    expect(band(page.text)).not.toContain("another");
    expect(band(page.text)).not.toContain("fetched");
  });

  it("finds the error at the end of long output", async () => {
    const { page } = await failed(`${"a line of no interest\n".repeat(10_000)}Error: at last\n`);
    expect(text(band(page.text))).toContain("Error: at last");
  });

  it("shows the last green build and the usual durations", async () => {
    const { admin, pipeline, agent } = await failed("Error: red\n");
    const end = async ({ steps, ...result }: { steps: object[]; status: string; exitCode: number }) => {
      const build = await triggerBuild(admin, pipeline.id);
      const job = await startNextJob(agent);
      expect((await callWithLease(agent, job, "POST", "progress", { steps })).status).toBe(204);
      expect(await callWithLease(agent, job, "POST", "finish", result)).toMatchObject({ status: 200 });
      return build;
    };
    const step = { id: null, name: "test", status: "succeeded", exitCode: 0, logOffset: 0 };
    const took = { startedAt: AT, finishedAt: "2026-11-22T12:00:41.000Z" };
    const green = await end({ status: "succeeded", exitCode: 0, steps: [{ ...step, ...took }] });
    const red = await end({ status: "failed", exitCode: 1, steps: [{ ...step, ...took, status: "failed" }] });
    const person = await personWith(admin);
    const { text: markup } = await person.open(`/builds/${red.id}`);
    expect(band(markup)).toContain(`last green <a href="/app/builds/${green.id}">#${green.number}</a>`);
    expect(markup).toMatch(/<td>41s<\/td><td>41s<\/td>/);
    expect(band((await person.open(`/builds/${green.id}`)).text)).toBe("");
  });

  it("renders a hostile step's output as text, also in the copied issue", async () => {
    const { page } = await failed(`Error: ${HOSTILE}\n\`\`\`\`\n`);
    expect(page.text).not.toContain("<img src=x");
    expect(band(page.text)).toContain("&quot;&gt;&lt;img src=x onerror=alert(1)&gt;");
    expect(band(page.text)).toMatch(/data-copy="[^"]*\n`````\n/);
  });
});

describe("the page of a build canceled before it started", () => {
  it("says in one sentence who canceled the build, and shows no log", async () => {
    const { admin, orgId, pipeline } = await newStartedBuild();
    const { id } = await triggerBuild(admin, pipeline.id);
    expect((await call(admin, "POST", `/build/${id}/cancel`)).status).toBe(200);
    // The audit names the person. D1 would get that entry a moment later.
    await poolStub(orgId).flush();
    const person = await personWith(admin);
    const { text: markup } = await person.open(`/builds/${id}`);
    expect(text(markup)).toMatch(/Nothing ran: canceled by \S.* before an agent took it\./);
    for (const part of ['id="log"', 'id="waterfall"', 'id="failure"']) expect(markup).not.toContain(part);
  });
});

describe("the build page", () => {
  it("has tabs that work without a script, and opens the first for an unknown tab", async () => {
    const { page, person, id } = await failed("Error: x\n");
    expect(page.text).toContain(`<a href="/app/builds/${id}#parts" aria-current="page">Log</a>`);
    const unknown = await person.open(`/builds/${id}?tab=%3Cb%3E`);
    expect(unknown).toMatchObject({ status: 200 });
    expect(unknown.text).toContain('id="log"');
    expect(unknown.text).not.toContain("<b>");
  });

  it("returns the times of log lines, only to people who may see the build", async () => {
    const { person, id } = await failed("one\n");
    const { status, text: times } = await person.open(`/builds/${id}/log/times`);
    expect(status).toBe(200);
    expect(JSON.parse(times)).toMatchObject([{ offset: 0 }]);
    const other = await personWith((await newStartedBuild()).admin);
    for (const path of [`/builds/${id}/log/times`, `/jobs/${id}/log/times`])
      expect((await other.open(path)).status).toBe(404);
    expect((await person.open("/builds/x/log/times")).status).toBe(404);
  });
});
