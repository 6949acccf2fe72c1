import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { contentOf } from "../../../src/agent/artifacts/fetch-content.ts";
import { ArtifactCalls, serviceStore } from "../../../src/agent/artifacts/service-store.ts";
import { Cancel } from "../../../src/agent/build/failure.ts";
import { JobLog } from "../../../src/agent/log/job-log.ts";
import { ApiClient } from "../../../src/agent/wire/client.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { type ReceivedRequest, type StubResponse, startStubServer } from "../support/stub-server.ts";

/** The service decides a part's size. */
const PART = 1024 * 1024;
const ID = "01900000-0000-7000-8000-0000000000c1";
const QUICK = { initial: 1, max: 5 };
const problem = (status: number, type: string): StubResponse => ({
  status,
  body: { type: `https://x/problems/${type}`, title: "No", status, detail: `it is ${type}`, requestId: "r" },
});

/** Random content: two full parts and 1,000 bytes. */
const CONTENT = Buffer.concat([randomBytes(PART), randomBytes(PART), randomBytes(1000)]);
const FILES = [
  { path: "a", size: PART + 5, mode: "644" as const },
  { path: "empty", size: 0, mode: "644" as const },
  { path: "b", size: CONTENT.length - PART - 5, mode: "755" as const },
];

async function* pieces() {
  for (let at = 0; at < CONTENT.length; at += 300_000) yield CONTENT.subarray(at, at + 300_000);
}

/** Creates a service that accepts parts unless `trouble` answers first. */
const upload = async (trouble: (request: ReceivedRequest, count: number) => StubResponse | null | Promise<null>) => {
  const counts = new Map<string, number>();
  let [opened, under, mostUnder] = [0, 0, 0];
  const service = await startStubServer(async (request) => {
    const verb = request.path.replace(`/job/J/artifact`, "");
    const count = (counts.get(verb) ?? 0) + 1;
    counts.set(verb, count);
    mostUnder = Math.max(mostUnder, ++under);
    const answer = await trouble(request, count);
    under--;
    if (answer) return answer;
    if (verb === "") {
      const grant = `grant-${++opened}`;
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      return { status: 201, body: { artifactId: ID, grant, expiresAt, partBytes: PART, parts: 3 } };
    }
    if (verb.endsWith("/done")) return { body: {} };
    return { body: { etag: `etag-${verb.at(-1)}` } };
  });
  onTestFinished(() => service.close());
  const client = new ApiClient({ url: service.url, token: "t", backOff: QUICK });
  const stop = new AbortController();
  const onLeaseLost = () => stop.abort(new Cancel("lease-lost"));
  const calls = new ArtifactCalls({ client, id: "J", lease: 7, signal: stop.signal, onLeaseLost });
  const lines: string[] = [];
  const log = new JobLog([], { size: 0, write: (bytes) => void lines.push(Buffer.from(bytes).toString()) }, () => {});
  const kept = serviceStore(calls, client, log)
    .keep({ name: "app", as: "files", keepDays: 3 }, { files: FILES, leftOut: [], bytes: pieces })
    .then(
      () => null,
      (error: unknown) => error,
    );
  return { error: await kept, requests: service.requests, stop, mostUnder: () => mostUnder };
};

const partsIn = (requests: ReceivedRequest[]): ReceivedRequest[] =>
  requests.filter(({ path }) => path.includes("/part/"));
const numbers = (requests: ReceivedRequest[]): string =>
  partsIn(requests)
    .map(({ path }) => path.at(-1))
    .sort()
    .join("");
const sha = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
const md5 = (bytes: Buffer): Buffer => createHash("md5").update(bytes).digest();

describe("an upload", () => {
  it("sends equal parts with their sums, and ends with the files' sums", async () => {
    const { error, requests } = await upload(() => null);
    expect(error).toBeNull();
    expect(JSON.parse(requests[0]!.body.toString())).toEqual({
      name: "app",
      as: "files",
      keepDays: 3,
      bytes: CONTENT.length,
      files: 3,
    });
    expect(numbers(requests)).toBe("123");
    for (const { path, headers, body } of partsIn(requests)) {
      const index = Number(path.at(-1)) - 1;
      expect(body.equals(CONTENT.subarray(index * PART, (index + 1) * PART))).toBe(true);
      expect(headers).toMatchObject({
        "x-lease": "7",
        "x-grant": "grant-1",
        "x-content-sha256": sha(body),
        "content-length": String(body.length),
      });
    }
    const [a, b] = [CONTENT.subarray(0, PART + 5), CONTENT.subarray(PART + 5)];
    const sums = [0, 1, 2].map((index) => md5(CONTENT.subarray(index * PART, (index + 1) * PART)));
    expect(JSON.parse(requests.at(-1)!.body.toString())).toMatchObject({
      list: [
        { path: "a", size: a.length, sha256: sha(a) },
        { path: "empty", size: 0, sha256: sha(Buffer.alloc(0)), crc32: "00000000" },
        { path: "b", size: b.length, mode: "755", sha256: sha(b) },
      ],
      etags: ["etag-1", "etag-2", "etag-3"],
      md5: md5(Buffer.concat(sums)).toString("hex"),
    });
  });

  it("repeats only the affected part after a cut connection or a temporary error", async () => {
    const { error, requests, mostUnder } = await upload(({ path }, count) => {
      if (path.endsWith("/part/2") && count < 3) return count === 1 ? { drop: true } : { status: 503, body: {} };
      return null;
    });
    expect(error).toBeNull();
    expect(numbers(requests)).toBe("12223");
    expect(mostUnder()).toBeLessThanOrEqual(2);
  });

  it("requests another grant when the service rejects one, and continues", async () => {
    const { error, requests } = await upload(({ path, headers }) =>
      /part\/[23]|done/.test(path) && headers["x-grant"] === "grant-1" ? problem(403, "forbidden") : null,
    );
    expect(error).toBeNull();
    expect(partsIn(requests).filter(({ headers }) => headers["x-grant"] === "grant-2").length).toBe(2);
    expect(requests.filter(({ path }) => path === "/job/J/artifact")).toHaveLength(2);
  });

  it.each([
    ["the lease is lost at the end", /done/, problem(409, "lease-lost"), /stopped: lease-lost/],
    ["its name is already used", /artifact$/, problem(409, "conflict"), /it is conflict/],
    ["the organization reaches its storage limit", /artifact$/, problem(429, "limit-reached"), /^it is limit-reached$/],
    ["the service rejects a part", /part\/1/, problem(400, "malformed-body"), /it is malformed-body/],
    ["the service rejects every grant", /part\/2/, problem(403, "forbidden"), /it is forbidden/],
    [
      "the service sends an invalid answer",
      /artifact$/,
      { status: 201, body: { parts: 1 } },
      /cannot read the service's answer/,
    ],
    [
      "the service requires too large parts",
      /artifact$/,
      {
        status: 201,
        body: {
          ...{ artifactId: ID, grant: "g", expiresAt: new Date().toISOString() },
          ...{ partBytes: LIMITS.artifactPartBytes + 1, parts: 1 },
        },
      },
      /parts of a size that this agent does not support/,
    ],
  ] as [string, RegExp, StubResponse, RegExp][])("ends when %s", async (_, path, answer, message) => {
    const { error, requests, stop } = await upload((request) => (path.test(request.path) ? answer : null));
    expect(String((error as Error).message)).toMatch(message);
    expect(stop.signal.aborted).toBe(message.source.includes("lease-lost"));
    if (!path.test("done")) expect(requests.filter((request) => request.path.endsWith("/done"))).toEqual([]);
  });
});

describe("a download", () => {
  const fetched = async (
    script: (range: string | undefined, count: number) => StubResponse,
    renew = async () => "two",
  ) => {
    let count = 0;
    const service = await startStubServer(({ headers }) => script(headers.range, ++count));
    // The stub answers in JSON, and a number's JSON is its text.
    onTestFinished(() => service.close());
    const client = new ApiClient({ url: service.url, token: "t", backOff: QUICK });
    const got: Buffer[] = [];
    const signal = new AbortController().signal;
    const error = await (async () => {
      for await (const piece of contentOf({ client, grant: "one", renew, bytes: 6, signal, backOff: QUICK }))
        got.push(Buffer.from(piece));
      return null;
    })().catch((thrown: Error) => thrown.message);
    return {
      error,
      text: Buffer.concat(got).toString(),
      paths: service.requests.map(({ path, headers }) => `${path} ${headers.range ?? ""}`),
    };
  };

  it("continues where the connection ended", async () => {
    const { error, text, paths } = await fetched((range) =>
      range === undefined ? { body: 123 } : { status: 206, body: 456 },
    );
    expect({ error, text }).toEqual({ error: null, text: "123456" });
    expect(paths).toEqual(["/artifact/one/content ", "/artifact/one/content bytes=3-"]);
  });

  it.each([
    ["never arrives", 0],
    ["fails", 1],
  ])("is complete after the last byte, although the end of the answer %s", async (_, keepAliveTimeout) => {
    const service = await startStubServer(() => ({ body: 123456, headers: { "Content-Length": "7" } }));
    onTestFinished(() => service.close());
    service.server.keepAliveTimeout = keepAliveTimeout;
    const closed = new Promise((resolve) => service.server.once("connection", (socket) => socket.on("close", resolve)));
    const told = vi.spyOn(process.stderr, "write");
    onTestFinished(() => told.mockRestore());
    const client = new ApiClient({ url: service.url, token: "t", backOff: QUICK });
    const { signal } = new AbortController();
    const renew = async () => "two";
    for await (const piece of contentOf({ client, grant: "one", renew, bytes: 6, signal, backOff: QUICK })) {
      expect(piece.toString()).toBe("123456");
      if (keepAliveTimeout > 0) await closed;
    }
    expect(service.requests).toHaveLength(1);
    expect(told.mock.calls.join()).not.toContain("trying again");
  });

  it("continues with another grant when one expires", async () => {
    const { error, text, paths } = await fetched((_, count) =>
      count === 1 ? problem(403, "forbidden") : { body: 123456 },
    );
    expect({ error, text }).toEqual({ error: null, text: "123456" });
    expect(paths[1]).toBe("/artifact/two/content ");
  });

  it.each([
    ["more bytes arrive than announced", (): StubResponse => ({ body: 1234567 }), /more bytes than it announced/],
    ["the service does not have the bytes", () => problem(404, "not-found"), /rejected the download \(404\)/],
    ["the bytes never arrive", (): StubResponse => ({ drop: true }), /made no progress/],
    [
      "the service restarts the content instead of continuing it",
      (range: string | undefined): StubResponse => (range ? { status: 200, body: 123 } : { body: 123 }),
      /rejected the download \(200\)/,
    ],
  ])("fails when %s", async (_, script, message) => {
    expect((await fetched(script)).error).toMatch(message);
  });
});
