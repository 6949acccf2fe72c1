import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { putRecord } from "../../../src/archive/records.ts";
import type { GraphJob } from "../../../src/pipeline/graph/graph.ts";
import type { Build } from "../../../src/protocol/build.ts";
import type { JobOfBuild } from "../../../src/protocol/build-job.ts";
import { newBuild, poolOf, registered, value } from "../../objects/pool/support.ts";
import { graphJob, graphOf } from "../../queue/jobs/test-build.ts";
import { call, newOrganization, newRepository, newToken } from "../../support/api.ts";
import { writeSummary } from "../../support/summary-row.ts";
import { personWith } from "../shell/page-requests.ts";
import { idleJob, jobRecord } from "./job-records.ts";

const dropped = (job: string) =>
  ({ status: "dropped", depth: 1, cause: { kind: "need-failed", job, text: null } }) as const;

/** Creates an ended build with these jobs. Returns its page's markup for a token with this role. */
const stage = async (jobs: JobOfBuild[], more: Record<string, string | number | null> = { status: "failed" }) => {
  const { orgId, admin } = await newOrganization();
  const { id: repoId } = await newRepository(admin);
  const { id } = await writeSummary(orgId, { repo_id: repoId, ...more });
  const { body } = await call<Build>(admin, "GET", `/build/${id}`);
  await putRecord(env.ARCHIVE, { ...body, jobs });
  const page = async (role: "viewer" | "member") =>
    (await personWith(await newToken(admin, role))).open(`/builds/${id}`);
  return { id, page };
};

describe("the page of an ended build with several jobs", () => {
  const jobs = [
    jobRecord("lint"),
    jobRecord("test", { status: "failed", exitCode: 3 }),
    idleJob("deploy", { needs: ["test"], ...dropped("test") }),
  ];

  it("shows jobs in place of steps and log, names the failed job, and links to each job", async () => {
    const { id, page } = await stage(jobs, { status: "failed", exit_code: 3 });
    const { text } = await page("viewer");
    expect(text).toContain("1 failed, 1 dropped, 1 succeeded");
    for (const job of jobs) expect(text).toContain(`href="/app/jobs/${job.id}"`);
    expect(text).toMatch(
      new RegExp(`id="failure-title"><a href="/app/jobs/${jobs[1]?.id}"><bdi>test</bdi></a> failed: exit 3<`),
    );
    expect(text).not.toContain('id="log"');
    expect(text).toContain(`<a href="/app/builds/${id}/log">Planning log</a>`);
  });

  it("offers members to retry the failed jobs, with their number", async () => {
    const { page } = await stage(jobs);
    expect((await page("member")).text).toContain("Retry failed (2 of 3)");
    expect((await page("viewer")).text).not.toContain("Retry failed");
    const green = await stage([jobRecord("lint")], { status: "succeeded" });
    expect((await green.page("member")).text).not.toContain("Retry failed");
  });
});

const GATE = { message: "Release main?", by: "maintainer", timeoutHours: 48, hostStatus: "success" } as const;
type Words = Parameters<typeof graphJob>[1];

/** Creates a build with these jobs in its pool. Jobs without steps end as soon as they may run. */
const liveStage = async (definitions: Record<string, Words>) => {
  const { orgId, admin } = await newOrganization();
  const { id: repoId } = await newRepository(admin);
  const jobs = Object.entries(definitions).map(
    ([key, words]): GraphJob => graphJob(key, { id: crypto.randomUUID(), hasSteps: false, ...words }),
  );
  const planned = { graph: graphOf(jobs), text: "jobs: {}", adopted: {} };
  const commit = { subject: "cart: <b>round</b> once", author: "Ada <b>" };
  const origin = { event: "push", before: null, pull: null, commit, schedule: null } as const;
  const own = {
    ...{ id: crypto.randomUUID(), repoId, pipelineId: null, inputs: null, secretKeys: [], planned },
    ...{ branch: "release/<b>", commitSha: "c".repeat(40) },
    origin: { ...origin, paths: null, purpose: "build" } as const,
  };
  const { id } = value(await poolOf(orgId).enqueue(newBuild(orgId, own)));
  const jobOf = async (key: string): Promise<JobOfBuild> => {
    const { body } = await call<Build>(admin, "GET", `/build/${id}`);
    return body.jobs?.find((job) => job.key === key) as JobOfBuild;
  };
  const as = async (role: "viewer" | "member" | "maintainer") => personWith(await newToken(admin, role));
  return { id, orgId, admin, jobOf, as, path: `/builds/${id}` };
};

const GATED = { build: {}, deploy: { needs: ["build"], gate: GATE, hasSteps: true }, tell: { needs: ["deploy"] } };

describe("a build that waits for approval", () => {
  it("says so in its title, the list and a panel, which has buttons only for people who may answer", async () => {
    const { as, path, jobOf } = await liveStage(GATED);
    const { id } = await jobOf("deploy");
    const [maintainer, member] = [await as("maintainer"), await as("member")];
    const { text } = await maintainer.open(path);
    expect(text).toMatch(/<title>\S+ #\d+ [^<]*: waiting for approval/);
    expect(text).toContain("Release main?");
    expect(text).toContain(`formaction="/app/jobs/${id}/reject"`);
    expect((await maintainer.open("/builds")).text).toMatch(/class="why"[^>]*><span>waiting for approval/);
    for (const shown of [path, `/jobs/${id}`]) {
      expect((await maintainer.open(shown)).text).toContain(`action="/app/jobs/${id}/approve"`);
      const seen = (await member.open(shown)).text;
      expect(seen).toContain("Maintainers and admins can approve or reject");
      expect(seen).not.toContain(`action="/app/jobs/${id}/approve"`);
    }
  });

  it("is not approved on the overview, which links to the gate and its content", async () => {
    const { as, path, jobOf } = await liveStage(GATED);
    const { id } = await jobOf("deploy");
    const maintainer = await as("maintainer");
    const { text } = await maintainer.open("");
    expect(text).toContain(`href="/app${path}#gate-${id}"`);
    expect(text).not.toMatch(/<form[^>]*(approve|reject)|formaction/);
    expect((await (await as("member")).open("")).text).not.toContain(`#gate-${id}`);
    for (const shown of [path, `/jobs/${id}`]) {
      const [gate = ""] = /<section class="gate".*?<\/section>/s.exec((await maintainer.open(shown)).text) ?? [];
      expect(gate.replaceAll(/<[^>]+>/g, "").replaceAll(/\s+/g, " ")).toContain(
        "Approving runs deploy at ccccccc cart: &lt;b&gt;round&lt;/b&gt; once by Ada &lt;b&gt; on release/&lt;b&gt;.",
      );
    }
  });

  it("continues after an approval, and shows the approver and the comment", async () => {
    const { as, path, jobOf } = await liveStage(GATED);
    const { id } = await jobOf("deploy");
    const maintainer = await as("maintainer");
    expect(await maintainer.submit(`/jobs/${id}/approve`, { comment: "<b>go</b>" })).toMatchObject({
      status: 303,
      to: `/app${path}?done=approved`,
    });
    expect(await jobOf("deploy")).toMatchObject({ status: "queued", gate: { decision: { comment: "<b>go</b>" } } });
    const { text } = await maintainer.open(`/jobs/${id}`);
    expect(text).toContain("Approved by");
    expect(text).toContain("<bdi>&lt;b&gt;go&lt;/b&gt;</bdi>");
    expect((await maintainer.open(path)).text).not.toContain('class="gate"');
    const late = await maintainer.submit(`/jobs/${id}/reject`, { comment: "no, wait" });
    expect(late.status).toBe(422);
    expect(await jobOf("deploy")).toMatchObject({ status: "queued", gate: { decision: { approved: true } } });
  });

  it("fails after a rejection, and explains why dependent jobs were dropped", async () => {
    const { as, path, jobOf } = await liveStage(GATED);
    const { id } = await jobOf("deploy");
    const maintainer = await as("maintainer");
    expect((await maintainer.submit(`/jobs/${id}/reject`)).status).toBe(303);
    expect(await jobOf("tell")).toMatchObject({ status: "dropped" });
    const { text } = await maintainer.open(path);
    expect(text).toMatch(/failed: rejected by <bdi>/);
    expect(text).toContain("dropped: <bdi>deploy</bdi> failed");
    expect(text).not.toContain('data-again="');
  });

  it("rejects answers from lower roles and from other organizations", async () => {
    const { as, jobOf } = await liveStage(GATED);
    const { id } = await jobOf("deploy");
    for (const role of ["viewer", "member"] as const) {
      const person = await as(role);
      for (const word of ["approve", "reject"]) {
        expect((await person.submit(`/jobs/${id}/${word}`)).status, `${role} ${word}`).toBe(403);
      }
    }
    const other = await personWith((await newOrganization()).admin);
    for (const word of ["approve", "reject", "cancel"]) {
      expect((await other.submit(`/jobs/${id}/${word}`)).status).toBe(404);
    }
    for (const shown of [`/jobs/${id}`, `/jobs/${id}/log`]) expect((await other.open(shown)).status).toBe(404);
    expect(await jobOf("deploy")).toMatchObject({ status: "waiting", gate: { decision: null } });
  });
});

describe("a build with a job that no registered agent can run", () => {
  it("names the job and the missing requirement", async () => {
    const { orgId, as, path } = await liveStage({
      web: { hasSteps: true },
      ios: { hasSteps: true, requires: { ios: true } },
    });
    const agent = await registered(poolOf(orgId), orgId);
    value(await poolOf(orgId).claim({ ...agent, bootId: "b1", features: ["jobs"] }));
    const { text } = await (await as("viewer")).open(path);
    expect(text).toContain("Jobs that no registered agent can run");
    expect(text).toContain("<bdi>ios</bdi>: needs <strong>iOS</strong>. No registered agent meets these requirements.");
    expect(text).not.toContain("<bdi>web</bdi>:");
  });
});

describe("the job page", () => {
  it("explains why the job waits, and cancels only that job", async () => {
    const { as, path, jobOf } = await liveStage({ build: { hasSteps: true }, lint: { hasSteps: true } });
    const { id } = await jobOf("build");
    const member = await as("member");
    const { text } = await member.open(`/jobs/${id}`);
    expect(text).toContain("Why it&#39;s waiting");
    expect(text).toContain(`<a href="/app${path}">`);
    expect((await member.submit(`/jobs/${id}/cancel`)).to).toBe(`/app/jobs/${id}?done=job-canceled`);
    expect((await member.open(`/jobs/${id}`)).text).toContain("canceled");
    expect(await jobOf("lint")).toMatchObject({ status: "queued" });
    expect((await (await as("viewer")).open(`/jobs/${(await jobOf("lint")).id}`)).text).not.toContain('id="cancel"');
  });

  it("renders a hostile file's names and messages as text", async () => {
    const text = `"><img src=x onerror=alert(1)>\u202etxt`;
    const hostile = { key: text, definition: text, name: text, matrix: { [text]: text } };
    const { as, path, jobOf } = await liveStage({
      own: { ...hostile, gate: { ...GATE, message: text }, groups: [text] },
      next: { needs: [text] },
    });
    const maintainer = await as("maintainer");
    for (const shown of [path, `/jobs/${(await jobOf(text)).id}`, `/jobs/${(await jobOf("next")).id}`, "/builds"]) {
      const markup = (await maintainer.open(shown)).text;
      expect(markup, shown).not.toContain("<img src=x");
      if (shown !== "/builds") expect(markup).toContain("&quot;&gt;&lt;img src=x onerror=alert(1)&gt;");
    }
  });
});
