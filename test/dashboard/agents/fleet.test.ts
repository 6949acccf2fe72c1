import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cellRects } from "../../../src/dashboard/agents/fleet.tsx";
import { keepUp } from "../../../src/services/upkeep/upkeep.ts";
import worker from "../../../src/worker.ts";
import { poolOf } from "../../objects/pool/support.ts";
import { call, create, newOrganization, newPipeline, newRepository, newToken } from "../../support/api.ts";
import { finishNewJob, newBuildSetup, triggerBuild } from "../../support/build-setup.ts";
import { writeEndedBuild } from "../../support/ended-builds.ts";
import { HOSTILE } from "../../support/hostile-texts.ts";
import { startNextJob } from "../../support/jobs.ts";
import { counting } from "../../support/platform/platform.ts";
import { ORIGIN, personWith, signIn } from "../shell/page-requests.ts";

const SKILLS = { platform: 2, canBuildIOS: false, canBuildAndroid: false, canBuildWeb: true };
const NAME = `mill ${HOSTILE}`.slice(0, 60);

/** Creates an organization with a hostile agent name, and a build that no agent can run. */
const stage = async () => {
  const { admin } = await newOrganization();
  const agent = await create(admin, "/buildagent/register", { ...SKILLS, name: NAME, labels: ["big"] });
  const { id: repoId } = await newRepository(admin, 1);
  const requires = { platform: "macos", ios: true, labels: ["fast"], xcode: "26" };
  await triggerBuild(admin, (await newPipeline(admin, repoId, { requires })).id);
  return { admin, agent: agent.id as string, person: async () => personWith(await newToken(admin, "viewer")) };
};

describe("cellRects", () => {
  it("covers exactly the requested cells with at most three rectangles", () => {
    fc.assert(
      fc.property(fc.nat(60), fc.nat(60), fc.integer({ min: 1, max: 12 }), (from, length, columns) => {
        const rects = cellRects(from, from + length, columns);
        const cells = rects.flatMap(({ x, y, width, height }) =>
          Array.from({ length: width * height }, (_, n) => (y + Math.floor(n / width)) * columns + x + (n % width)),
        );
        expect(cells).toEqual(Array.from({ length }, (_, n) => from + n));
        expect(rects.length).toBeLessThan(4);
      }),
    );
  });
});

describe("the fleet page", () => {
  it("shows the agent strip, the queue by requirement, and the agent rows", async () => {
    const { person, agent } = await stage();
    const { text } = await (await person()).open("/agents");
    expect(text).toContain("<title>1 agent idle</title>");
    expect(text).toContain("macOS, iOS, Xcode 26, label fast");
    expect(text).toContain("no matching agent online");
    expect(text).toContain(`href="/app/agents/${agent}"`);
    expect(text).not.toContain("<img src=x");
  });

  it("says that no builds are waiting", async () => {
    const { admin } = await newOrganization();
    expect((await (await personWith(admin)).open("/agents")).text).toContain("No builds are waiting for an agent.");
  });
});

describe("an agent's last hour", () => {
  /** Creates an agent that has ended one build and runs another, in a named pipeline. */
  const working = async () => {
    const setup = await newBuildSetup();
    const { admin, pipeline, agent } = setup;
    const { build } = await finishNewJob(setup);
    await writeEndedBuild(env.DB, {
      orgId: setup.orgId,
      repoId: setup.repository.id,
      pipelineId: pipeline.id,
      at: Date.now() - 120_000,
    });
    await keepUp(env, new Date(), { buildDays: 90, auditDays: 400 });
    const running = await triggerBuild(admin, pipeline.id);
    await startNextJob(agent);
    const name = `${setup.repository.fullName} / ${pipeline.name}`;
    return { ...setup, person: await personWith(await newToken(admin, "viewer")), build, running, name };
  };

  it("is a bar in its row, where each build is a link titled with its result", async () => {
    const { person, build, running, name } = await working();
    const { text } = await person.open("/agents");
    expect(text).toMatch(new RegExp(`<title>#${build.number} ${name}, succeeded, \\d+( m)?s</title>`));
    expect(text).toMatch(new RegExp(`<title>#${running.number} ${name}, running, `));
    expect(text).toContain(`<a href="/app/builds/${build.id}" tabindex="-1">`);
    expect(text).toContain("In the last hour: 1 running, 1 succeeded");
    expect(text).not.toContain(" style=");
  });

  it("is a bar and a table on the agent's page", async () => {
    const { person, agent, build, running, name } = await working();
    const { text } = await person.open(`/agents/${agent.id}`);
    const rows = /<table id="runs">.*<\/table>/s.exec(text)?.[0] ?? "";
    for (const { id, number } of [build, running]) {
      expect(rows).toContain(`href="/app/builds/${id}"`);
      expect(rows).toContain(`<bdi>#${number} ${name}</bdi>`);
    }
    expect(text).toContain("1 running, 1 succeeded");
    const stranger = await personWith((await newOrganization()).admin);
    expect((await stranger.open("/agents")).text).not.toContain(build.id);
  });

  it("costs one round trip to D1 and at most 300 rows with 70 active pipelines", async () => {
    const { orgId, admin, repository, agent, person } = await working();
    for (let n = 0; n < 70; n++) {
      const { id } = await newPipeline(admin, repository.id, { name: `p${n}` });
      await writeEndedBuild(env.DB, { orgId, repoId: repository.id, pipelineId: id, at: Date.now() - 120_000 });
    }
    await keepUp(env, new Date(), { buildDays: 90, auditDays: 400 });
    for (const path of ["/agents", `/agents/${agent.id}`]) {
      const { headers } = await person.open(path);
      const [, rounds, rows] = /rounds=(\d+) read=(\d+)/.exec(headers.get("Server-Timing") ?? "") ?? [];
      console.log(`${path}: ${rounds} round, ${rows} rows`);
      expect(Number(rounds)).toBe(1);
      expect(Number(rows)).toBeLessThanOrEqual(300);
      expect(Number(rows)).toBeGreaterThan(100);
    }
  }, 60_000);
});

describe("a fleet page's calls to the pool", () => {
  /** Opens a page in a deployment with these bindings. */
  const opened = async (path: string, cookie: string, bindings: Partial<Env>) => {
    const context = createExecutionContext();
    const request = new Request(`${ORIGIN}/app${path}`, { headers: { Cookie: cookie } });
    const answer = await worker.fetch(
      request as Parameters<typeof worker.fetch>[0],
      { ...env, ...bindings } as Env,
      context,
    );
    const text = await answer.text();
    await waitOnExecutionContext(context);
    return { status: answer.status, text };
  };

  it("include one call for all agents' runs, and one round trip to D1", async () => {
    const { admin, agent } = await newBuildSetup();
    for (let n = 0; n < 10; n++) await create(admin, "/buildagent/register", { ...SKILLS, name: `mill-${n}` });
    const cookie = (await signIn(admin)).split(";")[0] ?? "";
    await opened("/agents", cookie, {});
    const callsOf = async (path: string) => {
      const { value: page, asked } = await counting(() => opened(path, cookie, {}));
      expect(page.status).toBe(200);
      return { rounds: asked.rounds, calls: asked.calls.map((call) => call.replace("AGENT_POOL ", "")).sort() };
    };
    expect(await callsOf("/agents")).toEqual({ rounds: 1, calls: ["listAgents", "metrics", "now", "runs"] });
    expect(await callsOf(`/agents/${agent.id}`)).toEqual({ rounds: 1, calls: ["getAgent", "now", "runs"] });
  });
});

describe("the page of a busy fleet", () => {
  const AGENTS = 60;
  const EACH = 12;

  it("stays below 250 KB, 30 KB compressed, if each agent ran a build every five minutes", async () => {
    const setup = await newBuildSetup();
    const { admin, orgId, agent } = setup;
    const { build } = await finishNewJob(setup);
    const pool = poolOf(orgId);
    await pool.flush();
    for (let n = 1; n < AGENTS; n++) await create(admin, "/buildagent/register", { ...SKILLS, name: `mill-${n}` });
    const { body: agents } = await call<{ id: string }[]>(admin, "GET", "/buildagent");
    await runInDurableObject(pool, (_, { storage }) => {
      for (const { id } of agents)
        for (let n = 0; n < EACH; n++)
          storage.sql.exec(
            `INSERT INTO build (seq, id, ended_at, facts) SELECT (SELECT max(seq) + 1 FROM build), ?2, ended_at,
              json_set(facts, '$.id', ?2, '$.job.agentId', ?1, '$.startedAt', ended_at - 290000 - ?3, '$.finishedAt', ended_at - ?3)
            FROM build WHERE id = ?4`,
            ...[id, crypto.randomUUID(), n * 300_000, build.id],
          );
    });
    const { text } = await (await personWith(admin)).open("/agents");
    const zipped = await new Response(
      new Blob([text]).stream().pipeThrough(new CompressionStream("gzip")),
    ).arrayBuffer();
    console.log(`${AGENTS * EACH} runs: ${text.length} bytes, ${zipped.byteLength} compressed`);
    expect(text.match(/class="stretch/g)?.length).toBeGreaterThanOrEqual(50 * (EACH - 1));
    expect(agents.some(({ id }) => id === agent.id)).toBe(true);
    expect(text.length).toBeLessThan(250_000);
    expect(zipped.byteLength).toBeLessThan(30_000);
  }, 60_000);
});

describe("a form that changes an agent", () => {
  it("returns to its page: the agent's page, or the list with its filters", async () => {
    const { admin, agent } = await stage();
    const maintainer = await personWith(await newToken(admin, "maintainer"));
    const page = (await maintainer.open(`/agents/${agent}`)).text;
    expect(page).toContain(`action="/app/agents/${agent}/drain?own"`);
    expect((await maintainer.submit(`/agents/${agent}/drain?own`)).to).toBe(`/app/agents/${agent}?done=draining`);
    expect((await maintainer.submit(`/agents/${agent}/resume?own`)).to).toBe(`/app/agents/${agent}?done=resumed`);
    const filters = "?q=mill&state=idle";
    expect((await maintainer.open(`/agents${filters}`)).text).toContain(`/drain${filters.replace("&", "&amp;")}"`);
    const { to } = await maintainer.submit(`/agents/${agent}/drain${filters}`);
    expect(to).toBe(`/app/agents${filters}&done=draining`);
    const question = await maintainer.open(`/agents/${agent}/remove${filters}`);
    expect(question.text).toContain(`href="/app/agents${filters.replace("&", "&amp;")}"`);
    expect((await maintainer.open(`/agents/${agent}/remove?own`)).text).toContain(
      `class="button" href="/app/agents/${agent}"`,
    );
    expect((await maintainer.submit(`/agents/${agent}/remove?own`)).to).toBe("/app/agents?done=removed");
  });

  it("redirects to no other address, and requires a maintainer", async () => {
    const { admin, agent, person } = await stage();
    const maintainer = await personWith(await newToken(admin, "maintainer"));
    const { to } = await maintainer.submit(`/agents/${agent}/drain?own=https://evil.example&next=//evil.example`);
    expect(to).toBe(`/app/agents/${agent}?done=draining`);
    expect((await (await person()).submit(`/agents/${agent}/resume?own`)).status).toBe(403);
    expect((await maintainer.open(`/agents/${agent}`)).text).toContain("Draining: it accepts no new builds.");
  });
});

describe("an agent's page", () => {
  it("shows its state and capabilities, and lets only maintainers change it", async () => {
    const { admin, agent, person } = await stage();
    const path = `/agents/${agent}`;
    const { status, text } = await (await person()).open(path);
    expect(status).toBe(200);
    expect(text).toContain("No current build.");
    expect(text).toContain("web, big");
    expect(text).not.toContain("<img src=x");
    expect(text).not.toContain("/drain");
    const maintainer = await personWith(await newToken(admin, "maintainer"));
    expect((await maintainer.open(path)).text).toContain(`action="/app/agents/${agent}/drain?own"`);
    expect((await maintainer.submit(`${path}/drain`)).status).toBe(303);
    expect((await maintainer.open(path)).text).toContain("Draining: it accepts no new builds.");
  });

  it("answers 404 to other organizations, and after the agent is removed", async () => {
    const { admin, agent } = await stage();
    const stranger = await personWith((await newOrganization()).admin);
    expect((await stranger.open(`/agents/${agent}`)).status).toBe(404);
    await call(admin, "DELETE", `/buildagent/${agent}`);
    expect((await (await personWith(admin)).open(`/agents/${agent}`)).status).toBe(404);
  });
});
