import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JobLog } from "../../../src/agent/log/job-log.ts";
import { LogBuffer, sendLog } from "../../../src/agent/log/log-sender.ts";
import { Audience } from "../../../src/agent/wire/audience.ts";
import { ApiClient } from "../../../src/agent/wire/client.ts";
import { testFolder } from "../support/folder.ts";
import { type ReceivedRequest, type StubResponse, startStubServer } from "../support/stub-server.ts";
import { waitUntil } from "../support/wait-until.ts";

const BUILD = "01900000-0000-7000-8000-000000000001";
const QUICK = { initial: 1, max: 5 };

/** How the log service treats a chunk. `plan` has the first fates; the service accepts later chunks whole. */
type Fate = "take" | "fail" | "drop" | "drop after storing" | "lie" | { keep: number };

const logService = async (plan: Fate[]) => {
  let stored = Buffer.alloc(0);
  let broken: string | null = null;
  const script = ({ query, body }: ReceivedRequest): StubResponse => {
    const offset = Number(query.get("offset"));
    const fate = plan.shift() ?? "take";
    if (fate === "fail") return { status: 500, body: {} };
    if (fate === "drop") return { drop: true };
    if (fate === "lie") return { status: 200, body: { next: stored.length } };
    if (body.length === 0) broken = "an empty chunk was sent";
    if (offset > stored.length) {
      const problem = { type: "/problems/log-gap", title: "", status: 409, detail: "", requestId: "" };
      return { status: 409, body: { ...problem, expectedOffset: stored.length } };
    }
    const fresh = body.subarray(stored.length - offset);
    const kept = typeof fate === "object" ? fresh.subarray(0, fate.keep) : fresh;
    stored = Buffer.concat([stored, kept]);
    return fate === "drop after storing" ? { drop: true } : { status: 200, body: { next: stored.length } };
  };
  const service = await startStubServer(script);
  return { ...service, stored: () => stored, broken: () => broken };
};

const route = (url: string, buffer: LogBuffer) => ({
  client: new ApiClient({ url, token: "t", backOff: QUICK }),
  jobId: BUILD,
  lease: 7,
  buffer,
  audience: new Audience(),
  readyToSend: async () => {},
  signal: new AbortController().signal,
  pace: 1,
});

const bufferWith = (text: string): LogBuffer => {
  const buffer = new LogBuffer(join(testFolder(), "log"));
  buffer.write(Buffer.from(text));
  return buffer;
};

describe("the log on its way to the service", () => {
  it("continues exactly where the service stopped: 3 of 13 bytes, a failure, 6 more, a repeat, the rest", async () => {
    const service = await logService([{ keep: 3 }, "fail", { keep: 6 }, "lie", "take"]);
    const buffer = bufferWith("hello, mill!\n");
    buffer.close();
    await sendLog(route(service.url, buffer));
    expect(service.stored().toString()).toBe("hello, mill!\n");
    expect(service.requests.map(({ query }) => Number(query.get("offset")))).toEqual([0, 3, 3, 9, 9]);
    expect(
      service.requests.every(({ query, headers }) => query.get("final") === "true" && headers["x-lease"] === "7"),
    ).toBe(true);
    await service.close();
  });

  it("is stored exactly once, whatever happens to the chunks", async () => {
    const fate = fc.oneof(
      fc.constantFrom<Fate>("take", "fail", "drop", "drop after storing", "lie"),
      fc.nat(20).map((keep): Fate => ({ keep })),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fate, { maxLength: 12 }),
        fc.array(fc.string({ maxLength: 40 })),
        async (plan, parts) => {
          const service = await logService([...plan]);
          const buffer = bufferWith("");
          const sending = sendLog(route(service.url, buffer));
          for (const part of parts) {
            buffer.write(Buffer.from(part));
            await new Promise(setImmediate);
          }
          buffer.close();
          await sending;
          await service.close();
          buffer.dispose();
          expect(service.stored().toString()).toBe(Buffer.from(parts.join("")).toString());
          expect(service.broken()).toBeNull();
        },
      ),
      { numRuns: 60 },
    );
  });

  it("fails this test if the service claims more bytes than it kept", async () => {
    const service = await startStubServer(({ query, body }) => ({
      status: 200,
      body: { next: Number(query.get("offset")) + body.length },
    }));
    const buffer = bufferWith("abc");
    buffer.close();
    await sendLog(route(service.url, buffer));
    expect(service.requests.map(({ body }) => body.toString())).toEqual(["abc"]);
    await service.close();
  });

  it("returns to the offset that the service expects after a loss", async () => {
    const service = await logService([]);
    const buffer = bufferWith("0123456789");
    const answers: StubResponse[] = [
      { status: 200, body: { next: 6 } },
      { status: 200, body: { next: 2 } },
    ];
    const offsets: number[] = [];
    const forgetful = await startStubServer(({ query }) => {
      offsets.push(Number(query.get("offset")));
      return answers.shift() ?? { status: 200, body: { next: 10 } };
    });
    buffer.close();
    await sendLog(route(forgetful.url, buffer));
    expect(offsets).toEqual([0, 6, 2]);
    await forgetful.close();
    await service.close();
  });

  it("is sent as it grows, without waiting for its end, and is never sent empty", async () => {
    const service = await logService([]);
    const buffer = bufferWith("");
    const sending = sendLog(route(service.url, buffer));
    buffer.write(Buffer.from("first\n"));
    await waitUntil(() => service.stored().toString() === "first\n");
    buffer.write(Buffer.from("second\n"));
    await waitUntil(() => service.stored().toString() === "first\nsecond\n");
    buffer.close();
    await sending;
    expect(service.requests.every(({ body }) => body.length > 0)).toBe(true);
    await service.close();
  });

  it("continues after its burst, even at a fractional pace", async () => {
    const service = await logService([]);
    const buffer = bufferWith("");
    const sending = sendLog({ ...route(service.url, buffer), pace: 20.5 });
    for (let line = 0; line < 12; line++) {
      buffer.write(Buffer.from(`line ${line}\n`));
      await waitUntil(() => service.stored().includes(`line ${line}\n`));
    }
    buffer.close();
    await sending;
    expect(service.stored().toString().split("\n")).toHaveLength(13);
  });

  it("stops when the lease is lost, and when its signal is aborted", async () => {
    const problem = { type: "/problems/lease-lost", title: "", status: 409, detail: "", requestId: "" };
    const service = await startStubServer(() => ({ status: 409, body: problem }));
    const buffer = bufferWith("abc");
    await sendLog(route(service.url, buffer));
    expect(service.requests).toHaveLength(1);
    const end = new AbortController();
    const waiting = sendLog({ ...route(service.url, bufferWith("")), signal: end.signal });
    end.abort(new Error("over"));
    await expect(waiting).rejects.toThrow("over");
    await service.close();
  });

  it("waits for the masks before it sends the bytes after them", async () => {
    const order: string[] = [];
    const service = await startStubServer(({ body }) => {
      order.push(`bytes ${body.length}`);
      return { status: 200, body: { next: body.length } };
    });
    const buffer = bufferWith("abc");
    buffer.close();
    await sendLog({ ...route(service.url, buffer), readyToSend: async () => void order.push("masks") });
    expect(order).toEqual(["masks", "bytes 3"]);
    await service.close();
  });
});

describe("the log buffer", () => {
  it("accepts at most its limit and keeps every byte below it", () => {
    const buffer = new LogBuffer(join(testFolder(), "log"), 10);
    buffer.write(Buffer.from("0123456"));
    buffer.write(Buffer.from("789abc"));
    buffer.write(Buffer.from("def"));
    expect(Buffer.from(buffer.read(0, 100)).toString()).toBe("0123456789");
    expect(Buffer.from(buffer.read(4, 3)).toString()).toBe("456");
    expect(buffer.read(10, 5)).toHaveLength(0);
    buffer.dispose();
  });
});

describe("the build log", () => {
  const collected = () => {
    const parts: Buffer[] = [];
    return {
      get size() {
        return Buffer.concat(parts).length;
      },
      write: (bytes: Uint8Array) => void parts.push(Buffer.from(bytes)),
      text: () => Buffer.concat(parts).toString(),
    };
  };

  it("masks a secret that arrives byte by byte, and one that is added later", () => {
    const sink = collected();
    const log = new JobLog(["correct-horse"], sink, () => {});
    for (const byte of Buffer.from("say correct-horse twice\n")) log.write(Uint8Array.of(byte));
    log.addSecrets(["battery-staple"]);
    log.write(Buffer.from("and battery-staple and correct-horse\n"));
    log.flush();
    expect(sink.text()).toBe("say *** twice\nand *** and ***\n");
    expect(log.mask("battery-staple?")).toBe("***?");
  });

  it("writes the agent's messages on their own lines", () => {
    const sink = collected();
    const log = new JobLog([], sink, () => {});
    log.write(Buffer.from("no end of line"));
    log.say("--- next");
    expect(log.flush()).toBe(sink.size);
    expect(sink.text()).toBe("no end of line\n--- next\n");
  });

  it("reports a full disk", () => {
    const full = Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
    const told: unknown[] = [];
    const sink = {
      size: 0,
      write: () => {
        throw full;
      },
    };
    const log = new JobLog([], sink, (error) => told.push(error));
    log.write(Buffer.from("abc\n"));
    log.flush();
    expect(told).toEqual([full]);
  });
});
