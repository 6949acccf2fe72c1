import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { dayOf } from "../../../src/archive/keys.ts";
import { listLogs } from "../../../src/archive/logs.ts";
import { call } from "../../support/api.ts";
import { newBuildSetup, pollOnce, triggerBuild } from "../../support/build-setup.ts";
import { logStub, redeploy } from "../../support/deployment.ts";

const ORIGIN = "https://millrace.test";
const LATER = 2 * 60 * 60_000;

afterEach(() => {
  vi.useRealTimers();
});

/** Creates a build with two attempts: the first is lost, and the second still runs. */
const ofTwoAttempts = async () => {
  const works = await newBuildSetup();
  const { admin, agent, orgId } = works;
  const { id } = await triggerBuild(admin, works.pipeline.id);
  const attempt = async (text: string) => {
    const headers = { "X-Lease": String((await pollOnce(agent)).body.lease) };
    await call(agent.token, "POST", `/build/${id}/start`, undefined, headers);
    const write = (at: number, bytes: string) =>
      call(agent.token, "PUT", `/build/${id}/log?offset=${at}`, bytes, headers);
    await write(0, text);
    const end = (verb: string, body: object) => call(agent.token, "POST", `/build/${id}/${verb}`, body, headers);
    return { write, end };
  };
  const first = await attempt("first attempt\n");
  await first.end("release", { reason: "the agent was stopped", interrupted: true });
  const second = await attempt("second ");
  await second.write(7, "attempt €\n");
  const log = logStub(orgId, id);
  const finish = async () => {
    expect((await second.end("finish", { status: "succeeded", exitCode: 0 })).status).toBe(200);
    await expect.poll(async () => (await log.info()).isComplete).toBe(true);
  };
  const archived = () => listLogs(env.ARCHIVE, { day: dayOf(Date.now()), orgId, jobId: id });
  return { admin, agent, orgId, id, log, second, finish, archived };
};
type Works = Awaited<ReturnType<typeof ofTwoAttempts>>;

const SECOND = "second attempt €\n";
const SIZE = new TextEncoder().encode(SECOND).length;

/** Creates an archive whose writes wait for `release`. `wasAsked` resolves at the first write. */
const slowArchive = () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let asked = () => {};
  const wasAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const put = async (...call: Parameters<R2Bucket["put"]>) => {
    asked();
    await gate;
    return env.ARCHIVE.put(...call);
  };
  return {
    bucket: { put, get: (...call: [string]) => env.ARCHIVE.get(...call) } as unknown as R2Bucket,
    release,
    wasAsked,
  };
};

const PLACES: [name: string, bring: (works: Works) => Promise<void | (() => Promise<void>)>][] = [
  ["in its object, closed", ({ finish }) => finish()],
  [
    "on its way to the archive",
    async ({ finish, log }) => {
      await finish();
      const { bucket, release, wasAsked } = slowArchive();
      await redeploy(log, { ARCHIVE: bucket });
      const moved = runDurableObjectAlarm(log);
      await wasAsked;
      return async () => {
        release();
        await moved;
      };
    },
  ],
  [
    "in both places, because the move was interrupted",
    async ({ finish, log, archived }) => {
      await finish();
      await runInDurableObject(log, async (_, { storage }) => {
        const deleteAll = storage.deleteAll.bind(storage);
        storage.deleteAll = async () => {
          storage.deleteAll = deleteAll;
          throw new Error("the object stops here");
        };
      });
      await runDurableObjectAlarm(log);
      expect(await archived()).toHaveLength(2);
    },
  ],
  [
    "in the archive",
    async ({ finish, log }) => {
      await finish();
      expect(await runDurableObjectAlarm(log)).toBe(true);
      expect((await log.info()).attempts).toEqual([]);
    },
  ],
  [
    "in the archive, long after its end",
    async ({ finish, log }) => {
      await finish();
      await runDurableObjectAlarm(log);
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + LATER });
    },
  ],
  [
    "still in its object, long after its end",
    async ({ finish }) => {
      await finish();
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + LATER });
    },
  ],
];

const get = (token: string, path: string, headers: Record<string, string> = {}) =>
  exports.default.fetch(new Request(`${ORIGIN}${path}`, { headers: { Authorization: `Bearer ${token}`, ...headers } }));

const eventsFrom = async (token: string, path: string, id?: string): Promise<string> => {
  const headers = { Accept: "text/event-stream", ...(id ? { "Last-Event-ID": id } : {}) };
  return (await get(token, path, headers)).text();
};

const END = "event: end\ndata: null\n\n";

describe("a build that is canceled before an agent has it", () => {
  it("ends the streams of current and later followers of its log", async () => {
    const { admin, pipeline } = await newBuildSetup();
    const { id } = await triggerBuild(admin, pipeline.id);
    const early = get(admin, `/build/${id}/log`, { Accept: "text/event-stream" });
    const waiting = (await early).text();
    expect((await call(admin, "POST", `/build/${id}/cancel`)).body).toMatchObject({ status: "canceled" });
    expect(await waiting).toBe(END);
    expect(await eventsFrom(admin, `/build/${id}/log`)).toBe(END);
    expect((await get(admin, `/build/${id}/log`)).status).toBe(200);
  });
});

describe("a log's times", () => {
  it("are the same in its object and in the archive, for each attempt", async () => {
    const { admin, id, log, finish } = await ofTwoAttempts();
    const times = async () =>
      Promise.all(
        ["", "?attempt=1", "?attempt=3"].map((query) => call(admin, "GET", `/build/${id}/log/times${query}`)),
      );
    const [latest, first, none] = await times();
    expect(latest?.body.map(({ offset }: { offset: number }) => offset)).toEqual([0, 7]);
    expect(first?.body).toMatchObject([{ offset: 0, at: expect.stringMatching(/^\d{4}-.*Z$/) }]);
    expect(none?.status).toBe(404);
    await finish();
    await runDurableObjectAlarm(log);
    const [later, earlier, still] = await times();
    expect([later?.body, earlier?.body, still?.status]).toEqual([latest?.body, first?.body, 404]);
  });
});

describe.each(PLACES)("a log that is %s", (_, bring) => {
  it("is read whole, in part and by attempt", async () => {
    const works = await ofTwoAttempts();
    const finished = await bring(works);
    const path = `/build/${works.id}/log`;
    const text = async (query = "", range?: string) => {
      const answer = await get(works.admin, `${path}${query}`, range ? { Range: range } : {});
      return [answer.status, answer.headers.get("Content-Range"), await answer.text()];
    };
    expect(await text()).toEqual([200, null, SECOND]);
    expect(await (await get(works.admin, `/job/${works.id}/log`)).text()).toBe(SECOND);
    expect(await text("?attempt=1")).toEqual([200, null, "first attempt\n"]);
    expect(await text("?attempt=2")).toEqual([200, null, SECOND]);
    expect((await text("?attempt=3"))[0]).toBe(404);
    expect(await text("", "bytes=7-13")).toEqual([206, `bytes 7-13/${SIZE}`, "attempt"]);
    expect(await text("?attempt=1", "bytes=6-")).toEqual([206, "bytes 6-13/14", "attempt\n"]);
    expect(await text("", "bytes=-4")).toEqual([206, `bytes ${SIZE - 4}-${SIZE - 1}/${SIZE}`, "€\n"]);
    expect(await text("", `bytes=${SIZE}-`)).toEqual([416, `bytes */${SIZE}`, ""]);
    expect((await get(works.admin, path)).headers.get("Content-Length")).toBe(String(SIZE));
    await finished?.();
  });

  it("is followed from the start, from an event, and for a single attempt", async () => {
    const works = await ofTwoAttempts();
    const finished = await bring(works);
    const path = `/build/${works.id}/log`;
    const whole = await eventsFrom(works.admin, path);
    expect(whole.match(/data: "(.*)"/g)?.join("")).toContain("attempt €");
    expect(whole.endsWith(`id: 2:${SIZE}\ndata: ${JSON.stringify(SECOND)}\n\n${END}`)).toBe(true);
    expect(await eventsFrom(works.admin, path, "7")).toBe(`id: 2:${SIZE}\ndata: "attempt €\\n"\n\n${END}`);
    expect(await eventsFrom(works.admin, path, "1:6")).toBe(
      `id: 1:14\ndata: "attempt\\n"\n\nevent: attempt\nid: 2:0\ndata: 2\n\nid: 2:${SIZE}\ndata: ${JSON.stringify(SECOND)}\n\n${END}`,
    );
    expect(await eventsFrom(works.admin, `${path}?attempt=1`)).toBe(`id: 1:14\ndata: "first attempt\\n"\n\n${END}`);
    expect(await eventsFrom(works.admin, path, `2:${SIZE}`)).toBe(END);
    await finished?.();
  });
});
