import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { call, create, newAgent } from "../../support/api.ts";
import { sendArtifact } from "../../support/artifacts.ts";
import { triggerBuild } from "../../support/build-setup.ts";
import { saveCache } from "../../support/cache.ts";
import { writeEndedBuild } from "../../support/ended-builds.ts";
import { ESCAPES, HOSTILE } from "../../support/hostile-texts.ts";
import { callWithLease, planNextBuild, startNextJob } from "../../support/jobs.ts";
import { newStartedBuild } from "../../support/new-builds.ts";
import { reportedTest, testReport } from "../../support/tests.ts";
import { madeByText } from "../log-viewer/made-by-text.ts";
import { type Person, personWith } from "./page-requests.ts";

const inert = async (person: Person, path: string, shown: string): Promise<void> => {
  const { status, text } = await person.open(path);
  expect([path, status]).toEqual([path, 200]);
  expect([path, text.includes(shown)]).toEqual([path, true]);
  expect([path, await madeByText(text)]).toEqual([path, []]);
};

const escaped = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
const FIRST = HOSTILE[0]!;
/** Characters that reports drop. */
const BIDI = /[\u202a-\u202e]/;

describe("hostile text stays text", () => {
  it("in test names, suites, files and messages, and in the error line", async () => {
    const { admin, agent, job, id } = await newStartedBuild();
    const tests = HOSTILE.map((text, number) =>
      reportedTest(number + 1, { suite: text, className: text, name: text, file: text, message: text, text }),
    );
    const told = await callWithLease(agent, job, "PUT", "tests", testReport(tests, 100));
    expect(told, told.text).toMatchObject({ status: 200 });
    const log = new TextEncoder().encode(`Error: ${FIRST} ${ESCAPES.join("")}\n`);
    const sent = await call(agent.token, "PUT", `/build/${id}/log?offset=0&final=true`, log as never, {
      "X-Lease": String(job.lease),
    });
    expect(sent.status).toBe(200);
    await callWithLease(agent, job, "POST", "finish", {
      status: "failed",
      exitCode: 1,
      message: HOSTILE.join(" ").slice(0, 900),
    });
    const person = await personWith(admin);
    await inert(person, "/builds?view=all", `Error: ${escaped(FIRST)}`);
    for (const path of [`/builds/${id}`, `/builds/${id}?tab=tests`]) await inert(person, path, escaped(FIRST));
    const { text } = await person.open(`/builds/${id}?tab=tests`);
    for (const one of HOSTILE.filter((text) => !BIDI.test(text)))
      expect([one, text.includes(escaped(one).slice(0, 40))]).toEqual([one, true]);
    const [, test] = /href="\/app(\/repositories\/[^"]+\/tests\/[^"]+)"/.exec(text) ?? [];
    await inert(person, test ?? "", "Latest failures");
  });

  it("in artifact names, file names and cache keys", async () => {
    const { admin, agent, job, id } = await newStartedBuild();
    // The service rejects names that Windows does not allow for files.
    const names = HOSTILE.map((text, n) => `${n} ${text.replaceAll(/[":<>|*?/\\\u202a-\u202e]/g, "~")}`.slice(0, 60));
    for (const name of names.slice(0, 15))
      await sendArtifact(agent, job, name, { [HOSTILE[1]!]: "x", [`${name}.d/y`]: "y" });
    for (const text of HOSTILE.slice(0, 5)) await saveCache(agent, job, text.replaceAll(" ", "_"), new Uint8Array(8));
    await callWithLease(agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 });
    const person = await personWith(admin);
    await inert(person, `/builds/${id}?tab=artifacts`, escaped(names[0]!));
    await inert(person, `/artifacts/${id}/${encodeURIComponent(names[0]!)}`, escaped(names[0]!));
    await inert(person, `/repositories/${job.build.repoId}/cache`, "main");
  });

  it("in job names, gate messages and answers", async () => {
    const { admin, agent, job, pipeline } = await newStartedBuild();
    await callWithLease(agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 });
    await triggerBuild(admin, pipeline.id);
    const question = HOSTILE.join(" ").slice(0, 500);
    const file = {
      jobs: {
        build: { name: FIRST, steps: [{ run: "true" }] },
        ask: { name: HOSTILE[1], gate: { message: question }, steps: [{ run: "true" }] },
      },
    };
    const { buildId, ids } = await planNextBuild(agent, JSON.stringify(file));
    await startNextJob(agent);
    const person = await personWith(admin);
    for (const path of ["/", "/builds", `/builds/${buildId}`])
      await inert(person, path, escaped(question.slice(0, 20)));
    await inert(person, `/jobs/${ids.build}`, escaped(FIRST));
    const answer = await call(admin, "POST", `/job/${ids.ask}/approve`, { comment: question });
    expect(answer, answer.text).toMatchObject({ status: 200 });
    await inert(person, `/jobs/${ids.ask}`, escaped(question.slice(0, 20)));
  });

  it("in connection and schedule names, labels and commit messages", async () => {
    const { admin, orgId, repository, pipeline } = await newStartedBuild();
    for (const [n, text] of HOSTILE.entries()) {
      const name = text.replaceAll(/[\u202a-\u202e]/g, "~").slice(0, 60);
      if (n < 12) {
        await create(admin, "/connection", { kind: "gitlab", name, webUrl: `https://gitlab-${n}.example` });
        await create(admin, "/schedule", { pipelineId: pipeline.id, name: `${n} ${name}`, cron: "0 2 * * *" });
      }
      await writeEndedBuild(env.DB, {
        ...{ orgId, repoId: repository.id, pipelineId: pipeline.id, at: Date.now() - 60_000 * (n + 9) },
        ...{ subject: text, author: text, ref: `refs/heads/b${n}`, status: "failed", createdBy: { name: text } },
      });
    }
    await newAgent(admin, { name: HOSTILE[1], labels: ["web"] });
    const person = await personWith(admin);
    for (const path of ["/builds", "/builds?view=all"]) await inert(person, path, escaped(FIRST));
    for (const path of ["/connections", "/schedules", `/pipelines/${pipeline.id}`])
      await inert(person, path, escaped(FIRST));
    await inert(person, "/agents", escaped(HOSTILE[1]!));
    await inert(person, "/audit", escaped(FIRST));
  });

  it("and the check detects unescaped text", async () => {
    for (const text of HOSTILE.slice(0, 4)) expect(await madeByText(`<p title="x">${text}</p>`)).not.toEqual([]);
    expect(await madeByText(`<p title="${HOSTILE[4]}">x</p>`)).toEqual(["p onmouseover"]);
    expect(await madeByText(`<p>${escaped(FIRST)}</p>`)).toEqual([]);
  });
});
