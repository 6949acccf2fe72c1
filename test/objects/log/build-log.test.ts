import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BuildLogFollowers } from "../../../src/objects/log/followers.ts";
import { BuildLogStore } from "../../../src/objects/log/store.ts";
import type { LogResult } from "../../../src/objects/log/turns.ts";
import type { LogSegment } from "../../../src/objects/log/values.ts";
import {
  A,
  append,
  B,
  bytes,
  events,
  follow,
  kind,
  type Log,
  newLog,
  opened,
  SECRET,
  stored,
  textOf,
  value,
} from "./support.ts";

/** Changes the stored facts of the log's only lease. The object then rereads it. */
const patchLease = async (log: Log, patch: (lease: LogSegment) => Partial<LogSegment>): Promise<void> => {
  await runInDurableObject(log, (_, { storage }) => {
    const store = new BuildLogStore(storage);
    const lease = store.current()!;
    store.save({ ...lease, ...patch(lease) });
  });
  await evictDurableObject(log);
};

/* Asserts invariant 11, and invariant 3 as far as it concerns the log (docs/invariants.md). */
describe("a build's log", () => {
  it("stores acknowledged bytes once, whatever is repeated", async () => {
    const log = await opened();
    expect(value(await append(log, 0, "one "))).toEqual({ next: 4, leaked: false, followed: false });
    expect(value(await append(log, 0, "one ")).next).toBe(4);
    expect(value(await append(log, 0, "one two ")).next).toBe(8);
    expect(value(await append(log, 4, "two three", true)).next).toBe(13);
    expect(value(await append(log, 4, "two three", true)).next).toBe(13);
    expect(await stored(log)).toBe("one two three");
  });

  it("rejects a gap and names the expected offset", async () => {
    const log = await opened();
    await append(log, 0, "abc");
    const refused = await append(log, 4, "e");
    expect(refused).toMatchObject({ ok: false, refusal: { kind: "log-gap", expectedOffset: 3 } });
    expect(await stored(log)).toBe("abc");
  });

  it("acknowledges only what the masker released", async () => {
    const log = await opened();
    expect(value(await append(log, 0, "pw=hunter2-")).next).toBe(3);
    expect(await stored(log)).toBe("pw=");
    expect(value(await append(log, 3, "hunter2-hunter2!"))).toEqual({ next: 19, leaked: true, followed: false });
    expect(await stored(log)).toBe("pw=***!");
  });

  it("reports a secret that the agent did not mask, even if the chunk is repeated", async () => {
    const log = await opened();
    expect(value(await append(log, 0, `pw=${SECRET}\n`)).leaked).toBe(true);
    expect(value(await append(log, 0, `pw=${SECRET}\n`)).leaked).toBe(true);
    expect(value(await append(log, 19, "pw=***\n")).leaked).toBe(false);
    expect(await stored(log)).toBe("pw=***\npw=***\n");
  });

  it("masks values and texts that are added later", async () => {
    const log = await opened();
    expect(value(await append(log, 0, "late-value hun")).next).toBe(11);
    expect(kind((await log.addMasks({ ...A, values: ["late-value"] })) as LogResult<null>)).toBe("ok");
    await append(log, 11, `hunt late-value ${SECRET}`, true);
    expect(await stored(log)).toBe("late-value hunt *** ***");
    const texts = await log.maskTexts({ ...A, texts: ["step late-value", "none", SECRET] });
    expect(value(texts as LogResult<string[]>)).toEqual(["step ***", "none", "***"]);
    const masks = { ...A, values: ["later-value"], texts: ["later-value of late-value", SECRET] };
    expect(value((await log.addMasks(masks)) as LogResult<string[]>)).toEqual(["*** of ***", "***"]);
  });

  it("stores nothing for values that it already masks, even if one was given twice", async () => {
    const log = await opened([SECRET, SECRET]);
    const sealed = () => runInDurableObject(log, (_, { storage }) => new BuildLogStore(storage).current()?.sealed);
    const before = await sealed();
    await log.addMasks({ ...A, values: [SECRET] });
    expect(await sealed()).toBe(before);
    await log.addMasks({ ...A, values: ["one-new-value"] });
    expect(await sealed()).not.toBe(before);
    const texts = await log.maskTexts({ ...A, texts: ["one-new-value"] });
    expect(value(texts as LogResult<string[]>)).toEqual(["***"]);
  });

  it("keeps the bytes of a lost agent and accepts no more of them", async () => {
    const log = await opened();
    await append(log, 0, "from A");
    await opened([SECRET], B, 2, log);
    expect(kind(await append(log, 6, " zombie"))).toBe("lease-lost");
    expect(kind((await log.addMasks({ ...A, values: ["x"] })) as LogResult<null>)).toBe("lease-lost");
    expect(kind((await log.maskTexts({ ...A, texts: ["x"] })) as LogResult<string[]>)).toBe("lease-lost");
    expect(kind((await log.open({ ...A, attempt: 1, secrets: [] })) as LogResult<null>)).toBe("lease-lost");
    expect(await stored(log)).toBe("from A");
    await append(log, 0, "from B", false, B);
    expect(await stored(log)).toBe("from B");
    expect(await stored(log, { attempt: 1 })).toBe("from A");
    expect(kind((await log.read({ attempt: 3 })) as never)).toBe("not-found");
    expect(await log.info()).toEqual({
      attempts: [
        { attempt: 1, size: 6, isComplete: true },
        { attempt: 2, size: 6, isComplete: false },
      ],
      isComplete: false,
    });
  });

  it("rejects the token of another agent", async () => {
    const log = await opened();
    expect(kind(await append(log, 0, "x", false, { ...A, tokenHash: B.tokenHash }))).toBe("lease-lost");
    expect(kind((await log.open({ ...A, tokenHash: B.tokenHash, attempt: 1, secrets: [] })) as never)).toBe(
      "lease-lost",
    );
    expect(kind(await append(newLog(), 0, "x"))).toBe("lease-lost");
  });

  it("accepts nothing after its close, and reopens only for a higher fence", async () => {
    const log = await opened();
    await append(log, 0, "abc");
    await log.close({ fence: 100 });
    await log.close({ fence: 100 });
    await log.close({ fence: 1 });
    expect(kind(await append(log, 3, "d"))).toBe("lease-lost");
    expect(kind((await log.open({ ...A, attempt: 1, secrets: [] })) as never)).toBe("lease-lost");
    expect(await log.info()).toMatchObject({ isComplete: true });
    await opened([], B, 2, log);
    expect(await log.info()).toMatchObject({ isComplete: false });
  });

  it("reads ranges across its rows", async () => {
    const log = await opened([]);
    const text = Array.from({ length: 60_000 }, (_, n) => `line ${n}\n`).join("");
    await append(log, 0, text.slice(0, 300_000));
    await append(log, 300_000, text.slice(300_000));
    expect(await stored(log)).toBe(text);
    expect(await stored(log, { start: 262_140, end: 300_010 })).toBe(text.slice(262_140, 300_010));
    expect(await stored(log, { start: 1e9 })).toBe("");
    expect(value((await log.read({ end: 5 })) as never)).toMatchObject({ size: text.length, start: 0, end: 5 });
    expect(await stored(log, { suffix: 3 })).toBe(text.slice(-3));
    expect(await stored(log, { suffix: 1e9 })).toBe(text);
  });

  it("ends at its limit with a notice, while the build continues", async () => {
    const log = await opened();
    const at = 104857595;
    await patchLease(log, ({ position }) => ({ size: at, position: { ...position, offset: at } }));
    expect(value(await append(log, at, "12345678")).next).toBe(at + 8);
    expect(value(await append(log, at + 8, "more")).next).toBe(at + 12);
    expect(await stored(log, { start: at })).toBe(
      "12345\n[This log has reached its limit of 104857600 bytes: the rest is not kept.]\n",
    );
  });

  it("is deleted with everything that it stored", async () => {
    const log = await opened();
    await append(log, 0, "abc");
    await log.purge();
    expect(await stored(log)).toBe("");
    await runInDurableObject(log, (_, { storage }) => {
      expect(storage.sql.databaseSize).toBeLessThanOrEqual(4096);
    });
  });
});

describe("a log object that may be evicted between any two calls", () => {
  it("loses, duplicates and leaks nothing, wherever a secret is cut", async () => {
    const text = `k=${SECRET};aaaa${btoa(`id:${SECRET}`)}\nhunter2-hun\n`;
    const want = "k=***;aaaaaWQ6***\nhunter2-hun\n";
    const cases = fc.array(
      fc.record({ size: fc.integer({ min: 1, max: 12 }), evict: fc.boolean(), lost: fc.boolean() }),
      {
        minLength: 8,
        maxLength: 40,
      },
    );
    await fc.assert(
      fc.asyncProperty(cases, async (chunks) => {
        const log = await opened();
        let next = 0;
        for (let n = 0, sent = 0; next < text.length; n++) {
          const { size, evict, lost } = chunks[n % chunks.length]!;
          sent = Math.min(text.length, Math.max(sent, next) + size);
          const answer = value(await append(log, next, text.slice(next, sent), sent === text.length));
          if (!lost || sent === text.length) next = answer.next;
          if (evict) await evictDurableObject(log);
        }
        expect(await stored(log)).toBe(want);
      }),
      { numRuns: 40 },
    );
  });

  it("handles calls one by one, even if each must open its secrets first", async () => {
    const log = await opened();
    await evictDurableObject(log);
    const answers = await Promise.all([
      append(log, 0, "one hunter2-"),
      append(log, 0, "one hunter2-hunter2 two "),
      append(log, 4, "hunter2-hunter2 two three", true),
    ]);
    expect(answers.map((answer) => value(answer).next)).toEqual([4, 24, 29]);
    expect(await stored(log)).toBe("one *** two three");
    const [added, , closed] = await Promise.all([
      log.addMasks({ ...A, values: ["late-value"] }),
      log.close({ fence: 100 }),
      append(log, 29, "late-value"),
    ]);
    expect(kind(added as LogResult<null>)).toBe("ok");
    expect(kind(closed)).toBe("lease-lost");
  });

  it("stores no secret as plain text, and deletes the sealed ones when it closes", async () => {
    const log = await opened([SECRET, "another-secret-value"]);
    await append(log, 0, `a ${SECRET} b another-secret-value c positive-control hunter2-hun`);
    await log.addMasks({ ...A, values: ["third-secret-value"] });
    const dump = () =>
      runInDurableObject(log, (_, { storage }) =>
        [...storage.kv.list<object>()]
          .flatMap(([, stored]) => Object.values(stored))
          .map((part) => (part instanceof Uint8Array ? new TextDecoder().decode(part) : JSON.stringify(part)))
          .join("\n"),
      );
    const open = await dump();
    expect(open).toContain("positive-control");
    expect(open).toContain("m1.s1.");
    for (const secret of [SECRET, "another-secret-value", "third-secret-value", "hunter2-hun"]) {
      expect(open).not.toContain(secret);
      expect(open).not.toContain(btoa(secret).slice(0, -4));
    }
    await log.close({ fence: 100 });
    expect(await dump()).not.toContain("m1.s1.");
  });

  it("reports a missing key, writes nothing, and continues when the key is back", async () => {
    const log = await opened();
    await patchLease(log, ({ sealed }) => ({ sealed: sealed!.replace("m1.s1.", "m1.gone.") }));
    expect(kind(await append(log, 0, "abc"))).toBe("keyring-unavailable");
    expect(await stored(log)).toBe("");
    await patchLease(log, ({ sealed }) => ({ sealed: sealed!.replace("m1.gone.", "m1.s1.") }));
    expect(kind(await append(log, 0, "abc"))).toBe("ok");
  });
});

describe("the followers of a log", () => {
  it("get each byte once, stored or new, across evictions, to the end", async () => {
    const log = await opened();
    await append(log, 0, "one ");
    const readers = await Promise.all(Array.from({ length: 5 }, () => follow(log)));
    const first = await Promise.all(readers.map((reader) => events(reader, (all) => textOf(all) === "one ")));
    expect(first.map((all) => all.split("\n")[0])).toEqual(Array(5).fill("id: 1:4"));
    await evictDurableObject(log);
    const { next } = value(await append(log, 4, `two ${SECRET} \r\nid: 9\rdata: x\n`));
    await evictDurableObject(log);
    value(await append(log, next, "done", true));
    await log.close({ fence: 100 });
    const rest = await Promise.all(readers.map((reader) => events(reader)));
    for (const all of rest) {
      expect(textOf(all)).toBe("two *** \r\nid: 9\rdata: x\ndone");
      expect(all.endsWith("event: end\ndata: null\n\n")).toBe(true);
      expect(all.match(/^id: .*$/gm)).toEqual(["id: 1:28", "id: 1:32"]);
    }
  });

  it("continue after the id of the last event, even in the middle of a character", async () => {
    const log = await opened();
    const euro = bytes("a€");
    await log.append({ ...A, offset: 0, bytes: euro.slice(0, 2), final: false });
    const reader = await follow(log, "from=1:0");
    expect(await events(reader, (all) => all.includes("id: 1:1\n"))).toContain('data: "a"');
    await log.append({ ...A, offset: 2, bytes: euro.slice(2), final: false });
    expect(textOf(await events(reader, (all) => all.includes("id: 1:4\n")))).toBe("€");
    await reader.cancel();
    await log.append({ ...A, offset: 4, bytes: new Uint8Array([0x62, 0xe2]), final: false });
    await log.close({ fence: 100 });
    expect(textOf(await events(await follow(log, "from=1:4")))).toBe("b\ufffd");
    expect(textOf(await events(await follow(log, "from=4")))).toBe("b\ufffd");
  });

  it("get an event for a new attempt, unless they follow only one", async () => {
    const log = await opened();
    await append(log, 0, "first");
    const reader = await follow(log);
    const pinned = await follow(log, "from=0&attempt=1");
    await events(reader, (all) => all.includes("first"));
    await opened([], B, 2, log);
    await append(log, 0, "second", true, B);
    await log.close({ fence: 200 });
    expect(await events(reader)).toBe(
      'event: attempt\nid: 2:0\ndata: 2\n\nid: 2:6\ndata: "second"\n\nevent: end\ndata: null\n\n',
    );
    expect(await events(pinned)).toBe('id: 1:5\ndata: "first"\n\nevent: end\ndata: null\n\n');
    expect(await events(await follow(log, "from=1:2"))).toContain('data: "rst"');
  });

  it("wait for a log without any bytes, and get its end if it never begins", async () => {
    const log = newLog();
    const [early, never] = [await follow(log), await follow(log)];
    await opened([], A, 1, log);
    await append(log, 0, "hello");
    expect(textOf(await events(early, (all) => all.includes("hello")))).toBe("hello");
    await log.close({ fence: 100 });
    expect(await events(never)).toBe('id: 1:5\ndata: "hello"\n\nevent: end\ndata: null\n\n');
    const unbegun = newLog();
    const waiting = await follow(unbegun);
    await unbegun.close({ fence: 0 });
    expect(await events(waiting)).toBe("event: end\ndata: null\n\n");
  });

  it("read the store equally often, however many there are", async () => {
    const asked = async (count: number): Promise<number> => {
      const log = await opened([]);
      await append(log, 0, "hello", true);
      for (let n = 0; n < count; n++) await follow(log);
      return runInDurableObject(log, (_, ctx) => {
        let calls = 0;
        const counting = new Proxy(new BuildLogStore(ctx.storage), {
          get(store, name: keyof BuildLogStore) {
            calls++;
            const member = store[name];
            return typeof member === "function" ? member.bind(store) : member;
          },
        });
        const sockets = ctx.getWebSockets();
        for (const socket of sockets) socket.serializeAttachment({ fence: 100, attempt: null, at: 0, isWaiting: true });
        new BuildLogFollowers(ctx, counting).sendNews();
        expect(sockets.map((socket) => socket.deserializeAttachment().at)).toEqual(Array(count).fill(5));
        return calls;
      });
    };
    expect(await asked(20)).toBe(await asked(1));
  });

  it("are closed for a newer follower with the same token, and for no other token", async () => {
    const log = await opened([]);
    const others = await follow(log, "from=0", "another");
    const oldest = await follow(log);
    const rest = await Promise.all(Array.from({ length: 50 }, () => follow(log)));
    expect(await events(oldest)).toBe("");
    await append(log, 0, "on", true);
    await log.close({ fence: 100 });
    for (const reader of [others, ...rest]) expect(textOf(await events(reader))).toBe("on");
  });

  it("get no more than they requested if they are slow", async () => {
    const log = await opened([]);
    const line = "x".repeat(1023);
    for (let n = 0; n < 10; n++) await append(log, n * 102_400, `${line}\n`.repeat(100));
    const reader = await follow(log);
    await reader.read();
    await log.close({ fence: 100 });
    const at = await runInDurableObject(log, (_, ctx) =>
      ctx.getWebSockets().map((ws) => ws.deserializeAttachment().at),
    );
    expect(at[0]).toBeLessThan(600_000);
    expect((await events(reader)).endsWith("event: end\ndata: null\n\n")).toBe(true);
  });
});
