import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { triggerBuild } from "../../support/build-setup.ts";
import { writeEndedBuild } from "../../support/ended-builds.ts";
import { callWithLease, finishNextJob, planNextBuild, startNextJob } from "../../support/jobs.ts";
import { newStartedBuild } from "../../support/new-builds.ts";
import { personWith } from "../shell/page-requests.ts";

const DAY_MS = 86_400_000;
const FILE = `jobs:
  lint: { steps: [{ run: lint }] }
  test: { needs: [lint], steps: [{ run: test }] }
  deploy: { needs: [test], steps: [{ run: deploy }] }
`;

const plain = (markup: string): string => markup.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

describe("the build list", () => {
  it("explains why each waiting build waits", async () => {
    const { admin, pipeline } = await newStartedBuild();
    for (let index = 0; index < 8; index++) await triggerBuild(admin, pipeline.id, { branch: `waits-${index}` });
    const { text } = await (await personWith(admin)).open("/builds?view=all");
    const whys = [...text.matchAll(/<span class="why">(.*?)<\/span><span class="ref">/gs)].map(([, one]) =>
      plain(one!),
    );
    expect(
      whys.filter((why) => /Every agent that could take it is busy|ahead of it in the queue/.test(why)),
    ).toHaveLength(8);
  });

  it("draws a build's jobs as segments by state, with their counts in words", async () => {
    const { admin, agent, pipeline, job } = await newStartedBuild();
    await callWithLease(agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 });
    await triggerBuild(admin, pipeline.id);
    const { buildId } = await planNextBuild(agent, FILE);
    const person = await personWith(admin);
    const row = async () => {
      const { text } = await person.open("/builds?view=all");
      return text.slice(text.indexOf(`id="b-${buildId}"`)).split("</li>")[0] ?? "";
    };
    await finishNextJob(agent);
    await startNextJob(agent);
    expect(plain(await row())).toContain("3 jobs: 1 succeeded, 1 running, 1 waiting");
    expect((await row()).match(/class="is-(succeeded|running|waiting)"/g)).toHaveLength(3);
  });

  it("has a heading for each day, and shows a failed build's error line", async () => {
    const { admin, orgId, repository, pipeline } = await newStartedBuild();
    const base = { orgId, repoId: repository.id, pipelineId: pipeline.id };
    const at = Date.now() - 3 * DAY_MS;
    const id = await writeEndedBuild(env.DB, { ...base, at, status: "failed" });
    await env.DB.prepare("UPDATE build_summary SET failed_line = ? WHERE id = ?")
      .bind('<b>Error:</b> expected "119"', id)
      .run();
    const person = await personWith(admin);
    const { text } = await person.open("/builds?view=all");
    const days = [...text.matchAll(/<time datetime="(\d{4}-\d\d-\d\d)">/g)].map(([, day]) => day);
    expect(days).toEqual([new Date().toISOString().slice(0, 10), new Date(at).toISOString().slice(0, 10)]);
    expect(text).toContain("&lt;b&gt;Error:&lt;/b&gt; expected &quot;119&quot;</bdi>");
    expect(text).not.toContain("<b>Error");
  });

  it("refreshes often only while builds run or wait, so that one session can have twenty open", async () => {
    const { admin, agent, job, pipeline } = await newStartedBuild();
    const person = await personWith(admin);
    const seconds = async (query = ""): Promise<number> =>
      Number(/<main[^>]* data-again="(\d+)"/.exec((await person.open(`/builds${query}`)).text)?.[1]);
    const whileRunning = await seconds();
    await triggerBuild(admin, pipeline.id);
    await callWithLease(agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 });
    const whileWaiting = await seconds();
    const { text } = await person.open("/builds?view=all");
    expect(text).toContain("2 builds");
    expect(whileRunning).toBe(whileWaiting);
    expect(whileWaiting).toBeLessThan(await seconds("?status=succeeded"));
    expect((20 * 60) / whileRunning).toBeLessThan(Number(env.TOKEN_REQUESTS_PER_MINUTE) / 2);
  });
});
