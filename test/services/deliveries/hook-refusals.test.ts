import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { loadHookMint } from "../../../src/githosts/core/hook-address.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import type { Repository } from "../../../src/protocol/repository.ts";
import { call, expectProblem, newOrganization, newPipeline, newRepository } from "../../support/api.ts";
import {
  attachRepository,
  deliver,
  eventHeaders,
  newConnection,
  newHook,
  readDeliveryNotes,
  type StoredConnection,
  send,
  signDelivery,
} from "../../support/hooks.ts";
import { newPull, newPush, SHA } from "../../support/host-events.ts";
import { counting } from "../../support/platform/platform.ts";

let admin: string;
let orgId: string;
let repository: Repository;
let hook: StoredConnection;
const PUSH = eventHeaders("github", "push");
const text = (body: object) => JSON.stringify(body);
const encoded = (body: string) => new Uint8Array(new TextEncoder().encode(body));

beforeAll(async () => {
  ({ admin, orgId } = await newOrganization());
  repository = await newRepository(admin, 1);
  await newPipeline(admin, repository.id);
  hook = await newConnection(orgId, "github");
  await attachRepository(repository.id, hook);
});

/** Delivers. @returns the answer, and the requests to D1 and the objects */
const counted = async (path: string, init: RequestInit) => {
  // The service checks only once whether the database has its migrations.
  await deliver(hook, eventHeaders("github", "ping"), {});
  const { value: answer, asked } = await counting(() => send(path, init));
  return { answer, asked };
};

const NOTHING = { rounds: 0, statements: 0, calls: [] };
const builds = async () => (await call(admin, "GET", "/build?limit=200")).body.length;

describe("an unknown hook address", () => {
  it("gets the same bytes, whatever is wrong with it, and causes no query", async () => {
    const mint = loadHookMint(env.TOKEN_KEYS);
    const { orgId: other } = await newOrganization();
    const [, , ours] = hook.token.split("_");
    const tag = hook.token.slice(-12);
    const wrong = [
      "x",
      "mrh_",
      "%00",
      hook.token.slice(0, -1),
      `${hook.token}x`,
      hook.token.slice(0, -12) + [...tag].reverse().join(""),
      `mrh_${other}_${ours}_${tag}`,
      hook.token.replace("_github.", "_gitlab."),
      hook.token.replace(".1_", ".2_"),
      hook.token.replace("mrh_", "mrt_"),
      (await loadHookMint(`k9:${btoa("another key, which this is not..")}`).grant(hook)).token,
      admin,
    ];
    expect((await mint.grant(hook)).token).toBe(hook.token);
    const seen = new Set<string>();
    for (const token of wrong) {
      const { answer, asked } = await counted(`/hook/${token}`, { method: "POST", headers: PUSH, body: "{}" });
      expectProblem(answer, 404, "not-found");
      expect(asked, token).toEqual(NOTHING);
      seen.add(answer.text.replace(answer.body.requestId, ""));
    }
    expect(seen.size).toBe(1);
  });

  it("accepts only POST", async () => {
    for (const method of ["GET", "PUT", "DELETE"]) {
      const { answer, asked } = await counted(`/hook/${hook.token}`, { method });
      expectProblem(answer, 405, "method-not-allowed");
      expect(answer.headers.get("Allow")).toBe("POST");
      expect(asked).toEqual(NOTHING);
    }
  });
});

describe("a delivery without a valid proof", () => {
  it("is rejected where its signature is missing, wrong, for another header, or over other bytes", async () => {
    const body = encoded(text(newPush(SHA("a"))));
    const right = await signDelivery(hook, body);
    const mac = right["X-Hub-Signature-256"]!;
    const forged: Record<string, string>[] = [
      {},
      { "X-Hub-Signature-256": "" },
      { "X-Hub-Signature-256": `sha256=${"0".repeat(64)}` },
      { "X-Hub-Signature-256": mac.replace("sha256=", "") },
      { "X-Hub-Signature": mac },
      { "X-Gitlab-Token": hook.secret },
      { "X-Gitea-Signature": mac.replace("sha256=", "") },
      { Authorization: `Bearer ${admin}` },
      await signDelivery(hook, encoded(`${text(newPush(SHA("a")))} `)),
      await signDelivery({ kind: "github", secret: hook.token }, body),
      await signDelivery(await newHook(hook, 2), body),
    ];
    const before = await builds();
    for (const headers of forged) {
      const { answer, asked } = await counted(`/hook/${hook.token}`, {
        ...{ method: "POST", headers: { ...PUSH, ...headers }, body },
      });
      expectProblem(answer, 401, "unauthenticated");
      expect(asked, JSON.stringify(headers)).toEqual(NOTHING);
    }
    expect(await builds()).toBe(before);
  });

  it("costs nothing, 500 times", async () => {
    const body = text(newPush(SHA("a")));
    const statuses = new Set<number>();
    const { asked } = await counting(async () => {
      for (let n = 0; n < 500; n++) {
        const forged = { ...PUSH, "X-Hub-Signature-256": `sha256=${n.toString(16).padStart(64, "0")}` };
        statuses.add((await send(`/hook/${hook.token}`, { method: "POST", headers: forged, body })).status);
      }
    });
    expect([...statuses]).toEqual([401]);
    expect(asked).toEqual(NOTHING);
    const control = await counting(() => deliver(hook, PUSH, newPush(SHA("a"), { ref: "refs/heads/unwanted" })));
    expect(control.asked.rounds).toBeGreaterThan(0);
  });

  it("is counted by its address, and rejected above the limit", async () => {
    const keys: string[] = [];
    const HOOK_RATE: RateLimit = { limit: async ({ key }) => ({ success: keys.push(key) <= 1 }) };
    const request = { method: "POST", headers: PUSH, body: "{}" };
    expectProblem(await send(`/hook/${hook.token}`, request, { HOOK_RATE }), 401, "unauthenticated");
    const refused = await send(`/hook/${hook.token}`, request, { HOOK_RATE });
    expectProblem(refused, 429, "rate-limited");
    expect(refused.headers.get("Retry-After")).toBe("60");
    expect(keys).toEqual([hook.token, hook.token]);
  });

  it("does not count for its organization, whose limit counts the proven deliveries of all its hooks", async () => {
    const keys: string[] = [];
    const ORGANIZATION_RATE: RateLimit = { limit: async ({ key }) => ({ success: keys.push(key) <= 1 }) };
    const ping = eventHeaders("github", "ping");
    const forged = { method: "POST", headers: ping, body: "{}" };
    for (let n = 0; n < 3; n++)
      expectProblem(await send(`/hook/${hook.token}`, forged, { ORGANIZATION_RATE }), 401, "unauthenticated");
    expect(keys).toEqual([]);
    expect((await deliver(hook, ping, {}, { ORGANIZATION_RATE })).status).toBe(202);
    const another = await newConnection(orgId, "github");
    expectProblem(await deliver(another, ping, {}, { ORGANIZATION_RATE }), 429, "rate-limited");
    expect(keys).toEqual([`hooks of ${orgId} 0`, `hooks of ${orgId} 0`]);
  });
});

describe("a body that no host sends", () => {
  const signed = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => {
    const bytes = typeof body === "string" ? encoded(body) : body;
    const proof = await signDelivery(hook, bytes);
    return counted(`/hook/${hook.token}`, { method: "POST", headers: { ...PUSH, ...proof, ...headers }, body: bytes });
  };

  it.each(["application/x-www-form-urlencoded", "application/xml", "text/plain", "application/jsonx", ""])(
    "is rejected as %s",
    async (type) => {
      const { answer, asked } = await signed(text(newPush(SHA("a"))), { "Content-Type": type });
      expectProblem(answer, 415, "unsupported-media-type");
      expect(asked).toEqual(NOTHING);
    },
  );

  it("is rejected above 26 MiB, before the rest is read", async () => {
    const { answer, asked } = await counted(`/hook/${hook.token}`, {
      ...{ method: "POST", headers: { ...PUSH, "Content-Length": String(LIMITS.deliveryBytes + 1) }, body: "{}" },
    });
    expectProblem(answer, 413, "too-large");
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        controller.enqueue(new Uint8Array(1024 * 1024));
      },
    });
    const streamed = await counted(`/hook/${hook.token}`, { method: "POST", headers: PUSH, body: endless });
    expectProblem(streamed.answer, 413, "too-large");
    expect(sent).toBeLessThan(40);
    expect([asked, streamed.asked]).toEqual([NOTHING, NOTHING]);
  });

  it.each([
    ["not JSON", "ref=refs/heads/main"],
    ["truncated", text(newPush(SHA("a"))).slice(0, -1)],
    ["not UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
    ["an array", text([newPush(SHA("a"))])],
    ["empty", ""],
    ["with __proto__ as a name", '{"__proto__":{"ref":"refs/heads/main"}}'],
    ["with an escaped __proto__ as a name", '{"\\u005f_proto__":1}'],
    ["nested too deeply", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`],
  ])("is rejected: %s", async (_, body) => {
    const { answer, asked } = await signed(body);
    expectProblem(answer, 400, "malformed-body");
    expect(asked).toEqual(NOTHING);
  });
});

describe("a genuine delivery that builds nothing", () => {
  const changed = (change: (body: ReturnType<typeof newPush>) => void) => {
    const body = newPush(SHA("a"));
    change(body);
    return body;
  };
  const HUGE = Number.MAX_SAFE_INTEGER * 4;

  const rows: [name: string, event: string, body: object, ignored: RegExp][] = [
    ["lacks a field", "push", changed((body) => void delete (body as { ref?: string }).ref), /^The field ref is/],
    ["has another type", "push", { ...newPush(SHA("a")), after: 7 }, /^The field after is/],
    ["has no repository", "push", { ...newPush(SHA("a")), repository: null }, /^The field repository is/],
    ["has an unknown id", "push", newPush(SHA("a"), { id: 424242 }), /no active repository/],
    ["has a negative id", "push", newPush(SHA("a"), { id: -1 }), /^The field repository.id is/],
    ["has an id above 2^53", "push", newPush(SHA("a"), { id: HUGE }), /^The field repository.id is/],
    ["has a fraction as id", "push", newPush(SHA("a"), { id: 1.5 }), /^The field repository.id is/],
    ["has a ref that git rejects", "push", newPush(SHA("a"), { ref: "refs/heads/a..b" }), /name of the branch/],
    ["has a long ref", "push", newPush(SHA("a"), { ref: `refs/heads/${"x".repeat(300)}` }), /name of the branch/],
    ["has a ref of notes", "push", newPush(SHA("a"), { ref: "refs/notes/x" }), /neither a branch nor a tag/],
    ["has a short commit", "push", { ...newPush("abc1234"), after: "abc1234" }, /^The field after is/],
    ["has zeros for a commit", "push", newPush(null, { ref: "refs/heads/gone" }), /deleted/],
    ["is of a merge queue", "push", newPush(SHA("a"), { ref: "refs/heads/gh-readonly-queue/main/x" }), /merge queue/],
    ["is of a fork", "pull_request", newPull("opened", SHA("a"), { forkOf: 4 }), /fork, off/],
    ["is of a deleted fork", "pull_request", newPull("opened", SHA("a"), { forkOf: null }), /fork, off/],
    ["has an unknown action", "pull_request", newPull("enqueued", SHA("a")), /triggers no build/],
    ["is an unknown event", "sponsorship", {}, /triggers no build/],
    ["has a huge number", "pull_request", newPull("opened", SHA("a"), { number: HUGE }), /^The field number is/],
  ];

  it.each(rows)("gets a reason where it %s", async (_, event, body, ignored) => {
    const before = await builds();
    const { status, body: answer, text: said } = await deliver(hook, eventHeaders("github", event), body);
    expect(status, said).toBe(202);
    expect(answer).toMatchObject({ builds: [], ignored: expect.stringMatching(ignored) });
    expect(await builds()).toBe(before);
  });

  it("has its texts treated as text only", async () => {
    const title = 'x<script>alert(1)</script>${{ secrets.KEY }}\u0000\u001b[31m\ud800 end"';
    const pull = { ...{ number: 71, branch: "texts", title }, updatedAt: "999999-01-01T00:00:00Z" };
    const { body } = await deliver(hook, eventHeaders("github", "pull_request"), newPull("opened", SHA("7"), pull));
    const { body: build } = await call(admin, "GET", `/build/${body.builds[0]}`);
    expect(build.pull.title).toBe('x<script>alert(1)</script>${{ secrets.KEY }}  [31m\ufffd end"');
  });
});

describe("a hook that is no longer valid", () => {
  it("answers 410 for another generation or a deleted connection, after one query", async () => {
    const rotated = await newConnection(orgId, "github");
    const old = await newHook(rotated, 1);
    await env.DB.prepare("UPDATE connection SET hook_generation = 2 WHERE id = ?").bind(rotated.connectionId).run();
    const removed = await newConnection(orgId, "gitlab");
    await env.DB.prepare("DELETE FROM connection WHERE id = ?").bind(removed.connectionId).run();
    for (const [gone, headers] of [
      [old, PUSH],
      [await newHook(rotated, 3), PUSH],
      [removed, eventHeaders("gitlab", "Push Hook")],
    ] as const) {
      await deliver(hook, eventHeaders("github", "ping"), {});
      const { value: answer, asked } = await counting(() => deliver(gone, headers, newPush(SHA("a"))));
      expectProblem(answer, 410, "gone");
      expect(asked).toMatchObject({ rounds: 1, calls: [] });
    }
    const current = await newHook(rotated, 2);
    expect((await deliver(current, PUSH, newPush(SHA("a")))).status).toBe(202);
  });

  it("answers 410 while its connection is disabled, without a call to its object", async () => {
    const off = await newConnection(orgId, "github");
    await env.DB.prepare("UPDATE connection SET is_active = 0 WHERE id = ?").bind(off.connectionId).run();
    expectProblem(await deliver(off, PUSH, newPush(SHA("a"))), 410, "gone");
    expect(await readDeliveryNotes(off)).toEqual([]);
  });

  it("reaches no repository of another connection or organization", async () => {
    const { admin: theirs, orgId: other } = await newOrganization();
    const foreign = await newRepository(theirs, 1);
    await newPipeline(theirs, foreign.id);
    const foreignHook = await newConnection(other, "github");
    await attachRepository(foreign.id, foreignHook);
    const second = await newConnection(orgId, "github");
    const before = [await builds(), (await call(theirs, "GET", "/build")).body.length];
    expect((await deliver(second, PUSH, newPush(SHA("e")))).body.ignored).toMatch(/no active repository/);
    await env.DB.prepare("UPDATE repository SET connection_id = ? WHERE id = ?")
      .bind(second.connectionId, foreign.id)
      .run();
    expect((await deliver(second, PUSH, newPush(SHA("e")))).body.ignored).toMatch(/no active repository/);
    expect((await deliver(foreignHook, PUSH, newPush(SHA("e")))).body.ignored).toMatch(/no active repository/);
    expect([await builds(), (await call(theirs, "GET", "/build")).body.length]).toEqual(before);
  });
});
