import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { LogBuffer, quietPauseAfter, sendLog } from "../../../src/agent/log/log-sender.ts";
import { Audience } from "../../../src/agent/wire/audience.ts";
import { ApiClient } from "../../../src/agent/wire/client.ts";
import { ProgressSender } from "../../../src/agent/wire/progress-report.ts";
import type { Step } from "../../../src/protocol/build.ts";
import { testFolder } from "../support/folder.ts";
import { type ReceivedRequest, type StubServer, startStubServer } from "../support/stub-server.ts";
import { waitUntil } from "../support/wait-until.ts";

/** Longer than any test: a timer with this delay never fires. */
const NEVER = 3_600_000;
const ROUTE = { jobId: "01900000-0000-7000-8000-000000000001", lease: 7 };

let service: StubServer;
afterEach(() => service.close());

const clientOf = () => new ApiClient({ url: service.url, token: "t", backOff: { initial: 1, max: 5 } });

/** Starts to send a log to a service that stores it. */
const sending = async (answer: { followed?: boolean }, audience = new Audience(() => true)) => {
  let stored = "";
  service = await startStubServer(({ query, body }) => {
    stored = stored.slice(0, Number(query.get("offset"))) + body.toString();
    return { body: { next: stored.length, ...answer } };
  });
  const buffer = new LogBuffer(join(testFolder(), "log"));
  const end = new AbortController();
  const done = sendLog({
    ...ROUTE,
    client: clientOf(),
    buffer,
    audience,
    readyToSend: async () => {},
    signal: end.signal,
    pace: NEVER,
    quietPace: NEVER,
  });
  const write = (text: string) => buffer.write(Buffer.from(text));
  const arrived = (text: string) => waitUntil(() => stored.endsWith(text));
  return { audience, write, arrived, done, close: () => buffer.close(), stored: () => stored };
};

/** Sends two lines, and a third that waits. */
const untilQuiet = async (log: Awaited<ReturnType<typeof sending>>) => {
  for (const line of ["line 1\n", "line 2\n"]) {
    log.write(line);
    await log.arrived(line);
  }
  log.write("line 3\n");
  await new Promise(setImmediate);
};

describe("a log without followers", () => {
  it("is sent at once when it begins, then waits until it is closed", async () => {
    const log = await sending({ followed: false });
    await untilQuiet(log);
    expect(service.requests).toHaveLength(2);
    log.close();
    await log.done;
    expect(log.stored()).toContain("line 3");
    expect(service.requests).toHaveLength(3);
  });

  it("sends two chunks, then waits eight times as long after each, and never longer than half a minute", () => {
    const seconds = [1, 2, 3, 4, 5, 5000].map((chunks) => quietPauseAfter(chunks) / 1000);
    expect(seconds).toEqual([0, 1, 8, 30, 30, 30]);
  });

  it("is sent at once when somebody begins to follow it", async () => {
    const log = await sending({ followed: false });
    await untilQuiet(log);
    log.audience.note();
    await log.arrived("line 3\n");
    log.close();
    await log.done;
  });

  it("is sent when 256 KB wait", async () => {
    const log = await sending({ followed: false });
    await untilQuiet(log);
    const much = `${"x".repeat(300_000)}\n`;
    log.write(much);
    await log.arrived(much);
    log.close();
    await log.done;
  });
});

describe("a log with unknown followers", () => {
  it.each([
    ["no socket for hints is open", { followed: false }, new Audience(() => false)],
    ["the service is older and does not report followers", {}, new Audience(() => true)],
  ])("is sent line by line, because %s", async (_, answer, audience) => {
    const log = await sending(answer, audience);
    await untilQuiet(log);
    await log.arrived("line 3\n");
    log.close();
    await log.done;
  });
});

const step = (status: Step["status"]): Step => ({
  ...{ id: null, name: "step", status, exitCode: null, startedAt: null, finishedAt: null, logOffset: null },
});

const progressOf = async (audience: Audience) => {
  service = await startStubServer(() => ({ status: 204 }));
  return new ProgressSender({
    ...ROUTE,
    client: clientOf(),
    audience,
    quietPace: NEVER,
    signal: new AbortController().signal,
    onError: (error) => {
      throw error;
    },
  });
};

const reporting = async (audience: Audience) => {
  const progress = await progressOf(audience);
  progress.report({ commitSha: "a".repeat(40) });
  await waitUntil(() => service.requests.length === 1);
  const bodies = () => service.requests.map((request: ReceivedRequest) => JSON.parse(request.body.toString()));
  const arrived = (count: number) => waitUntil(() => service.requests.length === count);
  return { progress, bodies, arrived };
};

describe("the progress of a build without followers", () => {
  const alone = () => {
    const audience = new Audience(() => true);
    audience.note(false);
    return audience;
  };

  it("is not reported again after another call sent it, until it changes", async () => {
    const progress = await progressOf(alone());
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    progress.hold({ commitSha: "a".repeat(40) });
    expect(vi.getTimerCount()).toBe(1);
    progress.told([step("running")]);
    progress.report({ steps: [step("running")] });
    expect(vi.getTimerCount()).toBe(0);
    progress.report({ steps: [step("succeeded")] });
    expect(vi.getTimerCount()).toBe(1);
    progress.close();
    vi.useRealTimers();
    expect(service.requests).toEqual([]);
  });

  it("is merged into one report, which is sent at the end", async () => {
    const { progress, bodies } = await reporting(alone());
    progress.report({ steps: [step("running")] });
    progress.report({ steps: [step("succeeded")], summary: "done" });
    await new Promise(setImmediate);
    expect(bodies()).toHaveLength(1);
    await progress.flushed();
    expect(bodies()[1]).toEqual({ steps: [step("succeeded")], summary: "done" });
    progress.close();
  });

  it("is sent at once with values to mask, with a failed step, or when somebody follows", async () => {
    const audience = alone();
    const { progress, bodies, arrived } = await reporting(audience);
    progress.report({ steps: [step("running")] });
    progress.report({ masks: ["secret"] });
    await progress.masksKnown();
    expect(bodies()[1]).toEqual({ masks: ["secret"], steps: [step("running")] });
    progress.report({ steps: [step("failed")] });
    await arrived(3);
    await progress.flushed();
    progress.report({ steps: [step("running")] });
    audience.note();
    await arrived(4);
    progress.report({ steps: [step("succeeded")] });
    await arrived(5);
    progress.close();
  });
});
