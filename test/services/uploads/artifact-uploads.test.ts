import { env, exports } from "cloudflare:workers";
import { createHash } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { call, expectProblem, newAgent, newToken } from "../../support/api.ts";
import { crc32, packed, sha256 } from "../../support/artifact-files.ts";
import { endArtifact, grantClaims, openArtifact, sendArtifact, sendPart } from "../../support/artifacts.ts";
import { callDeployedWith } from "../../support/deployment.ts";
import { callWithLease, finishNextJob, startNextJob } from "../../support/jobs.ts";
import { contentPath, listArtifacts, newPlannedBuild, newStartedBuild } from "../../support/new-builds.ts";

const FILES = { "a.txt": "one", "b/c.txt": "three" };
const { list: LIST, bytes: BYTES } = packed(FILES);

const opened = async () => {
  const setup = await newStartedBuild();
  const answer = await openArtifact(setup.agent, setup.job, "app", FILES);
  expect(answer, answer.text).toMatchObject({ status: 201, body: { parts: 1, partBytes: 32 * 1024 * 1024 } });
  return { ...setup, artifact: answer.body };
};

/** Returns all archive keys that belong to a job. */
const keysOf = async (orgId: string): Promise<string[]> =>
  (await env.ARCHIVE.list({ prefix: "artifact/" })).objects.map(({ key }) => key).filter((key) => key.includes(orgId));

const finish = (setup: Awaited<ReturnType<typeof newStartedBuild>>) =>
  callWithLease(setup.agent, setup.job, "POST", "finish", { status: "succeeded", exitCode: 0 });

describe("POST /job/{id}/artifact", () => {
  it("returns the same artifact again with a fresh grant, and another one for other sizes", async () => {
    const { agent, job, artifact } = await opened();
    const again = await openArtifact(agent, job, "app", FILES);
    expect(again.body).toMatchObject({ artifactId: artifact.artifactId, parts: 1 });
    const other = await openArtifact(agent, job, "app", FILES, { bytes: 9 });
    expect(other.body.artifactId).not.toBe(artifact.artifactId);
    await sendPart(agent, job, artifact, 1, BYTES);
    expectProblem(await endArtifact(agent, job, artifact, { list: LIST, etags: [] }), 409, "conflict");
  });

  it("grants what every supported release reads, for an upload in several parts", async () => {
    const { agent, job, artifact } = await opened();
    const claims = ["bytes", "day", "fence", "files", "id", "jobId", "orgId", "tokenHash", "until"];
    expect(grantClaims(artifact.grant)).toEqual(claims);
    const large = await openArtifact(agent, job, "large", {}, { bytes: LIMITS.artifactPartBytes + 1, files: 1 });
    expect(grantClaims(large.body.grant)).toEqual([...claims, "uploadId"]);
  });

  it.each([
    ["a slash", "a/b"],
    ["a backslash", "a\\b"],
    ["a colon", "a:b"],
    ["a quote", 'a"b'],
    ["a line break", "a\nb"],
    ["a star", "a*"],
    ["nothing", ""],
    ["two dots", ".."],
    ["an invisible character", "a\u200bb"],
    ["101 characters", "a".repeat(101)],
  ])("rejects a name with %s", async (_, name) => {
    const { agent, job } = await newStartedBuild();
    const answer = await openArtifact(agent, job, name, FILES);
    expectProblem(answer, 422, "invalid");
    expect(answer.body.errors[0].pointer).toBe("/name");
  });

  it.each([
    [{ bytes: LIMITS.artifactBytes + 1 }, "/bytes"],
    [{ bytes: -1 }, "/bytes"],
    [{ files: 0 }, "/files"],
    [{ files: 5001 }, "/files"],
    [{ keepDays: 0 }, "/keepDays"],
    [{ keepDays: 401 }, "/keepDays"],
    [{ as: "zip" }, "/as"],
    [{ as: "tar" }, "/files"],
  ])("rejects %o", async (more, pointer) => {
    const { agent, job } = await newStartedBuild();
    const answer = await openArtifact(agent, job, "app", FILES, more);
    expectProblem(answer, 422, "invalid");
    expect(answer.body.errors[0].pointer).toBe(pointer);
  });

  it("accepts 100 artifacts of a job, and rejects the next", async () => {
    const { agent, job } = await newStartedBuild();
    for (let index = 0; index < LIMITS.artifacts; index++)
      expect((await openArtifact(agent, job, `a${index}`, FILES)).status).toBe(201);
    expectProblem(await openArtifact(agent, job, "one more", FILES), 429, "limit-reached");
    expect((await openArtifact(agent, job, "a7", FILES)).status).toBe(201);
  });

  it("keeps an artifact no longer than its build", async () => {
    const { agent, job } = await newStartedBuild();
    const done = await openArtifact(agent, job, "app", FILES, { keepDays: 400 });
    await sendPart(agent, job, done.body, 1, BYTES);
    const { body } = await endArtifact(agent, job, done.body, { list: LIST, etags: [] });
    const days = (Date.parse(body.expiresAt) - Date.parse(body.createdAt)) / 86_400_000;
    expect(Math.floor(days)).toBe(Number(env.BUILD_DAYS));
  });

  it("requires the agent that holds the job", async () => {
    const setup = await newStartedBuild();
    const { admin, agent, job, id } = setup;
    const body = { name: "app", as: "files", bytes: 8, files: 2 };
    for (const role of ["viewer", "member", "admin"] as const)
      expectProblem(await call(await newToken(admin, role), "POST", `/job/${id}/artifact`, body), 403, "forbidden");
    expectProblem(await call(null, "POST", `/job/${id}/artifact`, body), 401, "unauthenticated");
    const other = await newAgent(admin);
    expectProblem(await openArtifact(other, job, "app", FILES), 409, "lease-lost");
    expectProblem(await openArtifact(agent, { ...job, lease: job.lease - 1 }, "app", FILES), 409, "lease-lost");
    expectProblem(await call(agent.token, "POST", `/job/${id}/artifact`, body), 422, "invalid");
    await finish(setup);
    expectProblem(await openArtifact(agent, job, "app", FILES), 409, "lease-lost");
  });
});

describe("PUT /job/{id}/artifact/{artifactId}/part/{part}", () => {
  it.each([0, 2, -1, "x", 1.5])("rejects part %s of one", async (number) => {
    const { agent, job, artifact } = await opened();
    const answer = await sendPart(agent, job, artifact, number, BYTES);
    expect([404, 422], answer.text).toContain(answer.status);
  });

  it.each([
    ["too few bytes", BYTES.subarray(1), {}, 400],
    ["too many bytes", new Uint8Array(BYTES.length + 1), {}, 400],
    ["another SHA-256", BYTES, { "X-Content-SHA256": "0".repeat(64) }, 422],
    ["an invalid SHA-256", BYTES, { "X-Content-SHA256": "abc" }, 422],
  ])("rejects %s, and keeps nothing", async (_, bytes, headers, status) => {
    const { agent, job, artifact, orgId } = await opened();
    expect((await sendPart(agent, job, artifact, 1, bytes, headers)).status).toBe(status);
    expect(await keysOf(orgId)).toEqual([]);
    expectProblem(await endArtifact(agent, job, artifact, { list: LIST, etags: [] }), 409, "conflict");
  });

  it("accepts the same bytes again, and no others", async () => {
    const { agent, job, artifact } = await opened();
    const first = await sendPart(agent, job, artifact, 1, BYTES);
    expect((await sendPart(agent, job, artifact, 1, BYTES)).body).toEqual(first.body);
    const others = BYTES.map((byte) => byte ^ 1);
    expectProblem(await sendPart(agent, job, artifact, 1, others), 409, "conflict");
  });

  it("requires this artifact's and agent's grant, unaltered and in time", async () => {
    const { agent, job, artifact, admin } = await opened();
    const { grant } = artifact;
    const other = await openArtifact(agent, job, "other", FILES);
    const stranger = await newAgent(admin);
    const another = await opened();
    const altered = `${grant.slice(0, 20)}${grant[20] === "A" ? "B" : "A"}${grant.slice(21)}`;
    for (const wrong of [other.body.grant, another.artifact.grant, altered, `${grant}x`, "mrx_e30.x", ""]) {
      const answer = await sendPart(agent, job, { ...artifact, grant: wrong }, 1, BYTES);
      expectProblem(answer, 403, "forbidden");
    }
    expectProblem(await sendPart(stranger, job, artifact, 1, BYTES), 403, "forbidden");
    expectProblem(await sendPart(another.agent, job, artifact, 1, BYTES), 403, "forbidden");
    expectProblem(await sendPart({ ...agent, token: admin }, job, artifact, 1, BYTES), 403, "forbidden");
    expect((await sendPart(agent, job, artifact, 1, BYTES)).status).toBe(200);
  });

  it("rejects a grant after its hour", async () => {
    const { agent, job, artifact } = await opened();
    vi.setSystemTime(Date.now() + 60 * 60_000);
    try {
      const answer = await sendPart(agent, job, artifact, 1, BYTES);
      expectProblem(answer, 403, "forbidden");
      expect(answer.body.detail).toContain("expired");
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("POST /job/{id}/artifact/{artifactId}/done", () => {
  const sent = async () => {
    const setup = await opened();
    const part = await sendPart(setup.agent, setup.job, setup.artifact, 1, BYTES);
    return { ...setup, etags: [part.body.etag] };
  };
  const [a, b] = LIST;

  it.each<[string, object[], string]>([
    ["a wrong sum of sizes", [a!, { ...b, size: 4 }], "/list"],
    ["too few files", [{ ...a, size: 8 }], "/list"],
    ["too many files", [a!, { ...b, size: 2 }, { ...b, path: "x", size: 3 }], "/list"],
    ["a path out of the folder", [a!, { ...b, path: "../b" }], "/list/1/path"],
    ["a path out of the folder, through another one", [a!, { ...b, path: "x/../../b" }], "/list/1/path"],
    ["an absolute path", [a!, { ...b, path: "/etc/passwd" }], "/list/1/path"],
    ["a drive", [a!, { ...b, path: "C:x" }], "/list/1/path"],
    ["a backslash", [a!, { ...b, path: "x\\y" }], "/list/1/path"],
    ["an empty part", [a!, { ...b, path: "x//y" }], "/list/1/path"],
    ["a dot", [a!, { ...b, path: "./y" }], "/list/1/path"],
    ["a folder", [a!, { ...b, path: "y/" }], "/list/1/path"],
    ["a NUL", [a!, { ...b, path: "y\0" }], "/list/1/path"],
    ["a line break", [a!, { ...b, path: "y\nz" }], "/list/1/path"],
    ["1,025 bytes", [a!, { ...b, path: `${"é".repeat(512)}x` }], "/list/1/path"],
    ["a duplicate path", [a!, { ...b, path: "a.txt" }], "/list/1/path"],
    ["twins by case", [a!, { ...b, path: "A.TXT" }], "/list/1/path"],
    [
      "twins by composition",
      [
        { ...a, path: "\u00e9" },
        { ...b, path: "e\u0301" },
      ],
      "/list/1/path",
    ],
    [
      "a file that is a folder",
      [
        { ...a, path: "x" },
        { ...b, path: "X/y" },
      ],
      "/list/0/path",
    ],
    ["no file", [], "/list"],
    ["an unusual mode", [a!, { ...b, mode: "4755" }], "/list/1/mode"],
    ["an invalid sum", [a!, { ...b, crc32: "x" }], "/list/1/crc32"],
    [
      "a negative size",
      [
        { ...a, size: -1 },
        { ...b, size: 9 },
      ],
      "/list/0/size",
    ],
  ])("rejects a list with %s", async (_, list, pointer) => {
    const { agent, job, artifact, etags } = await sent();
    const answer = await endArtifact(agent, job, artifact, { list, etags });
    expectProblem(answer, 422, "invalid");
    expect(answer.body.errors[0].pointer).toBe(pointer);
    expect((await endArtifact(agent, job, artifact, { list: LIST, etags })).status).toBe(200);
  });

  it("rejects 5,001 files, and a body above its limit", async () => {
    const { agent, job, artifact } = await sent();
    const many = Array.from({ length: 5001 }, (_, index) => ({ ...a, path: `f${index}`, size: 0 }));
    expectProblem(await endArtifact(agent, job, artifact, { list: many, etags: [] }), 422, "invalid");
    const large = " ".repeat(LIMITS.artifactListBytes + 1);
    expectProblem(await endArtifact(agent, job, artifact, large), 413, "too-large");
  });

  it("rejects a single file's list with another SHA-256, and lets the agent send it again", async () => {
    const { agent, job, orgId } = await newStartedBuild();
    const { list, bytes } = packed({ x: "text" });
    const first = (await openArtifact(agent, job, "app", { x: "text" })).body;
    await sendPart(agent, job, first, 1, bytes);
    const lie = [{ ...list[0], sha256: "0".repeat(64) }];
    expectProblem(await endArtifact(agent, job, first, { list: lie, etags: [] }), 422, "invalid");
    expect(await keysOf(orgId)).toEqual([]);
    expect((await sendArtifact(agent, job, "app", { x: "text" })).artifactId).not.toBe(first.artifactId);
  });

  it("may be repeated only with the same list, and does not restart a kept artifact", async () => {
    const { agent, job, artifact, etags } = await sent();
    const end = () => endArtifact(agent, job, artifact, { list: LIST, etags });
    const first = await end();
    expect(first).toMatchObject({ status: 200, body: { name: "app", bytes: 8, files: 2 } });
    expect(await end()).toMatchObject({ status: 200, body: first.body });
    const other = [{ ...a, mode: "755" }, b];
    expectProblem(await endArtifact(agent, job, artifact, { list: other, etags }), 409, "conflict");
    expectProblem(await openArtifact(agent, job, "app", FILES), 409, "conflict");
    expectProblem(
      await sendPart(
        agent,
        job,
        artifact,
        1,
        BYTES.map((byte) => byte ^ 1),
      ),
      409,
      "conflict",
    );
  });

  it("rejects an expired lease, and the upload stays invisible", async () => {
    const setup = await sent();
    const { admin, agent, job, artifact, etags, id } = setup;
    await callWithLease(agent, job, "POST", "release", { reason: "stopped", interrupted: true });
    expectProblem(await endArtifact(agent, job, artifact, { list: LIST, etags }), 409, "lease-lost");
    const second = await startNextJob(agent);
    expect(second.lease).not.toBe(job.lease);
    expectProblem(await endArtifact(agent, second, artifact, { list: LIST, etags }), 403, "forbidden");
    await callWithLease(agent, second, "POST", "finish", { status: "succeeded", exitCode: 0 });
    expect((await listArtifacts(admin, id)).body).toEqual([]);
  });

  it("keeps a lost attempt's artifact invisible, and shows the next attempt's", async () => {
    const { admin, agent, job, id } = await newStartedBuild();
    await sendArtifact(agent, job, "app", { x: "first" });
    await callWithLease(agent, job, "POST", "release", { reason: "stopped", interrupted: true });
    const second = await startNextJob(agent);
    await sendArtifact(agent, second, "app", { x: "second" });
    await callWithLease(agent, second, "POST", "finish", { status: "failed", exitCode: 1 });
    expect((await listArtifacts(admin, id)).body).toMatchObject([{ name: "app", bytes: 6 }]);
    expect((await call(admin, "GET", contentPath(id, "app", "x"))).text).toBe("second");
  });

  it("keeps an artifact without a byte", async () => {
    const setup = await newStartedBuild();
    const { agent, job, id, admin } = setup;
    const empty = { "nothing.txt": "", "also/nothing": "" };
    expect((await sendArtifact(agent, job, "empty", empty)).parts).toBe(0);
    await finish(setup);
    const file = await call(admin, "GET", contentPath(id, "empty", "nothing.txt"));
    expect(file).toMatchObject({ status: 200, text: "" });
  });
});

describe("an artifact with several parts", { timeout: 120_000 }, () => {
  const PART = LIMITS.artifactPartBytes;
  const bytes = new Uint8Array(PART + 1000);
  bytes.set([1, 2, 3, 4], PART - 2);
  const parts = [bytes.subarray(0, PART), bytes.subarray(PART)] as const;
  const list = [{ path: "big.bin", size: bytes.length, mode: "644", sha256: sha256(bytes), crc32: crc32(bytes) }];
  const md5Of = (...sent: Uint8Array[]) => {
    const sums = sent.map((part) => createHash("md5").update(part).digest());
    return createHash("md5").update(Buffer.concat(sums)).digest("hex");
  };

  it("arrives in repeatable parts, and is compared with the agent's sum", async () => {
    const setup = await newStartedBuild();
    const { agent, job, admin, id } = setup;
    const size = { bytes: bytes.length, files: 1 };
    const begun = (await openArtifact(agent, job, "big", {}, size)).body;
    expect(begun.parts).toBe(2);
    const short = await sendPart(agent, job, begun, 1, parts[1]);
    expectProblem(short, 400, "malformed-body");
    const second = await sendPart(agent, job, begun, 2, parts[1]);
    await sendPart(agent, job, begun, 1, new Uint8Array(PART));
    // The upload continues with a new grant, too.
    const again = (await openArtifact(agent, job, "big", {}, size)).body;
    expect(again.artifactId).toBe(begun.artifactId);
    const first = await sendPart(agent, job, again, 1, parts[0]);
    const etags = [first.body.etag, second.body.etag];
    const end = (body: object) => endArtifact(agent, job, again, { list, etags, md5: md5Of(...parts), ...body });
    expectProblem(await end({ etags: etags.slice(1) }), 422, "invalid");
    expectProblem(await end({ md5: undefined }), 422, "invalid");
    expectProblem(await end({ etags: [etags[1], etags[0]] }), 409, "conflict");
    const done = await end({});
    expect(done, done.text).toMatchObject({ status: 200, body: { bytes: bytes.length } });
    expect((await end({})).body).toEqual(done.body);
    expectProblem(await sendPart(agent, job, again, 1, parts[0]), 409, "conflict");
    await finish(setup);
    const middle = { Range: `bytes=${PART - 2}-${PART + 1}` };
    const request = new Request(`https://millrace.test${contentPath(id, "big", "big.bin")}`, {
      headers: { Authorization: `Bearer ${admin}`, ...middle },
    });
    const answer = await exports.default.fetch(request);
    expect(answer.headers.get("Content-Range")).toBe(`bytes ${PART - 2}-${PART + 1}/${bytes.length}`);
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(bytes.subarray(PART - 2, PART + 2));
  });

  it("is rejected and dropped if it arrives changed, and may be sent again", async () => {
    const { agent, job, orgId } = await newStartedBuild();
    const size = { bytes: bytes.length, files: 1 };
    const begun = (await openArtifact(agent, job, "big", {}, size)).body;
    const changed = parts[1].map((byte) => byte ^ 1);
    const etags = [
      (await sendPart(agent, job, begun, 1, parts[0])).body.etag,
      (await sendPart(agent, job, begun, 2, changed)).body.etag,
    ];
    const end = await endArtifact(agent, job, begun, { list, etags, md5: md5Of(...parts) });
    expectProblem(end, 422, "invalid");
    expect(await keysOf(orgId)).toEqual([]);
    const again = (await openArtifact(agent, job, "big", {}, size)).body;
    expect(again.artifactId).not.toBe(begun.artifactId);
  });
});

describe("an artifact's cost", () => {
  /** Returns the bindings, and a list of calls to them. */
  const counted = () => {
    const calls: string[] = [];
    const noting = <T extends object>(of: T, name: string): T =>
      new Proxy(of, {
        get: (target, method) => {
          const found = Reflect.get(target, method);
          if (typeof found !== "function") return found;
          return (...given: unknown[]) => {
            calls.push(`${name}.${method === "call" ? given[1] : String(method)}`);
            return Reflect.apply(found, target, given);
          };
        },
      });
    const AGENT_POOL = { getByName: (name: string) => noting(env.AGENT_POOL.getByName(name), "pool") };
    return { calls, deployed: { AGENT_POOL, ARCHIVE: noting(env.ARCHIVE, "archive") } as unknown as Partial<Env> };
  };

  it("is three requests, two pool calls and two writes, for one file or 5,000", async () => {
    for (const count of [1, 5000]) {
      const files = Object.fromEntries(Array.from({ length: count }, (_, index) => [`f/${index}.txt`, `${index}`]));
      const { list, bytes: content } = packed(files);
      const setup = await newStartedBuild();
      const { agent, job, id } = setup;
      const { calls, deployed } = counted();
      const send = callDeployedWith(deployed);
      const lease = { "X-Lease": String(job.lease) };
      const opening = { name: "app", as: "files", bytes: content.length, files: count };
      const { body } = await send(agent.token, "POST", `/job/${id}/artifact`, opening, lease);
      expect(calls).toEqual(["pool.openArtifact"]);
      expect((await sendPart(agent, job, body, 1, content)).status).toBe(200);
      const end = await send(
        agent.token,
        "POST",
        `/job/${id}/artifact/${body.artifactId}/done`,
        { list, etags: [] },
        { ...lease, "X-Grant": body.grant },
      );
      expect(end, end.text).toMatchObject({ status: 200 });
      expect(calls.slice(1)).toEqual(["archive.head", "archive.put", "pool.keepArtifact"]);
      await finish(setup);
      const zip = await send(setup.admin, "HEAD", `/job/${id}/artifact/app/zip`);
      expect(Number(zip.headers.get("Content-Length"))).toBeGreaterThan(content.length);
    }
  });
});

describe("POST /job/{id}/download", () => {
  const FILE = `jobs:
  make: { steps: [{ run: make }] }
  other: { steps: [{ run: make }] }
  test: { needs: [make], matrix: { os: [a, b] }, steps: [{ run: make }] }
  ship: { needs: [test], steps: [{ run: make }] }
`;
  const ask = (
    setup: { agent: { id: string; token: string } },
    job: Parameters<typeof callWithLease>[1],
    downloads: unknown,
  ) => callWithLease(setup.agent, job, "POST", "download", { downloads });

  it("grants the artifacts of jobs that a job needs, directly or indirectly, and nothing else", async () => {
    const setup = await newPlannedBuild(FILE);
    const { agent } = setup;
    const made = new Map<string, string>();
    for (let count = 0; count < 4; count++) {
      const job = await startNextJob(agent);
      const key = job.job!.key;
      if (job.job!.definition === "test") {
        const answer = await ask(setup, job, [{ from: "make", artifact: "app" }]);
        expect(answer.body.artifacts).toMatchObject([{ from: "make", matrix: null, name: "app", bytes: 4, files: 1 }]);
        expectProblem(await ask(setup, job, [{ from: "other" }]), 422, "invalid");
        expectProblem(await ask(setup, job, [{ from: "test" }]), 422, "invalid");
        expectProblem(await ask(setup, job, [{ from: "nobody" }]), 422, "invalid");
        expectProblem(await ask(setup, job, [{ from: "make", artifact: "none" }]), 422, "invalid");
        expectProblem(await ask(setup, { ...job, lease: job.lease - 1 }, [{ from: "make" }]), 409, "lease-lost");
        expectProblem(await ask(setup, job, []), 422, "invalid");
        made.set(key, JSON.stringify(job.job!.matrix));
      }
      await sendArtifact(agent, job, "app", { "x.txt": key.slice(0, 4) });
      await callWithLease(agent, job, "POST", "finish", { status: "succeeded", exitCode: 0 });
    }
    const ship = await startNextJob(agent);
    const all = await ask(setup, ship, [{ from: "test" }, { from: "make" }]);
    expect(all, all.text).toMatchObject({ status: 200 });
    expect(all.body.artifacts.map((one: { matrix: unknown }) => JSON.stringify(one.matrix)).sort()).toEqual(
      [...made.values(), "null"].sort(),
    );
    const [first] = all.body.artifacts;
    const list = await call(agent.token, "GET", `/artifact/${first.grant}/list`);
    expect(list.body).toMatchObject([{ path: "x.txt", size: 4 }]);
    expect((await call(agent.token, "GET", `/artifact/${first.grant}/content`)).text).toBe("test");
    const part = await call(agent.token, "GET", `/artifact/${first.grant}/content`, undefined, { Range: "bytes=1-2" });
    expect(part).toMatchObject({ status: 206, text: "es" });
    const stranger = await newAgent(setup.admin);
    for (const end of ["list", "content"]) {
      expectProblem(await call(stranger.token, "GET", `/artifact/${first.grant}/${end}`), 403, "forbidden");
      expectProblem(await call(setup.admin, "GET", `/artifact/${first.grant}/${end}`), 403, "forbidden");
      expectProblem(await call(agent.token, "GET", `/artifact/${first.grant}x/${end}`), 403, "forbidden");
    }
    await callWithLease(agent, ship, "POST", "finish", { status: "succeeded", exitCode: 0 });
    expectProblem(await ask(setup, ship, [{ from: "make" }]), 409, "lease-lost");
  });

  it("finds an earlier build's artifacts, where a retry adopted its result", async () => {
    const setup = await newPlannedBuild(
      "jobs:\n  make: { steps: [{ run: x }] }\n  use: { needs: [make], steps: [{ run: x }] }\n",
    );
    const { admin, agent, buildId, ids } = setup;
    const make = await startNextJob(agent);
    await sendArtifact(agent, make, "app", FILES);
    await callWithLease(agent, make, "POST", "finish", { status: "succeeded", exitCode: 0 });
    await finishNextJob(agent, { status: "failed", exitCode: 1 });
    const retried = await call(admin, "POST", `/build/${buildId}/retry`, { only: "failed" });
    expect(retried, retried.text).toMatchObject({ status: 201 });
    const use = await startNextJob(agent);
    const answer = await ask(setup, use, [{ from: "make", artifact: "app" }]);
    expect(answer.body.artifacts, answer.text).toMatchObject([{ jobId: ids.make, bytes: 8 }]);
    await callWithLease(agent, use, "POST", "finish", { status: "succeeded", exitCode: 0 });
    const listed = await call(admin, "GET", `/build/${retried.body.id}/artifact`);
    expect(listed.body, listed.text).toMatchObject([{ name: "app" }]);
    const adopted = listed.body[0].jobId;
    expect(adopted).not.toBe(ids.make);
    expect((await call(admin, "GET", contentPath(adopted, "app", "a.txt"))).text).toBe("one");
  });

  it("rejects a build's root, and a build with one job", async () => {
    const setup = await newStartedBuild();
    expectProblem(await ask(setup, setup.job, [{ from: "make" }]), 422, "invalid");
  });
});
