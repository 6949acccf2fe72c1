import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeysUnusable } from "../../src/crypto/keys.ts";
import { loadMint } from "../../src/crypto/token.ts";
import { type Hook, HookMint, loadHookMint } from "../../src/githosts/core/hook-address.ts";

const key = (id: string, fill: number) => ({ id, bytes: new Uint8Array(32).fill(fill) });

const HOOK: Hook = {
  orgId: "acme",
  kind: "github",
  connectionId: "0190a1b2-0000-7000-8000-000000000001",
  generation: 1,
};
const mint = new HookMint([key("a", 1)]);

const hooks = fc.record<Hook>({
  orgId: fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/),
  kind: fc.constantFrom("github", "gitlab", "gitea"),
  connectionId: fc.uuid({ version: 7 }),
  generation: fc.integer({ min: 1, max: 999_999_999 }),
});

describe("the address of a hook", () => {
  it("is the same each time, and names its owner", async () => {
    const grant = await mint.grant(HOOK);
    expect(grant).toEqual(await new HookMint([key("other-id", 1)]).grant(HOOK));
    expect(grant.token).toMatch(/^mrh_acme_github\.0190a1b2-0000-7000-8000-000000000001\.1_[A-Za-z0-9]{12}$/);
    expect(await mint.recognize(grant.token)).toEqual({ ...HOOK, secret: grant.secret });
  });

  it("has a secret in its host's format", async () => {
    expect((await mint.grant(HOOK)).secret).toMatch(/^[A-Za-z0-9]{32}$/);
    expect((await mint.grant({ ...HOOK, kind: "gitea" })).secret).toMatch(/^[A-Za-z0-9]{32}$/);
    const { secret } = await mint.grant({ ...HOOK, kind: "gitlab" });
    expect(secret).toMatch(/^whsec_/);
    expect(atob(secret.slice("whsec_".length))).toHaveLength(32);
  });

  it("is rejected with any other character in any position", async () => {
    const { token } = await mint.grant(HOOK);
    for (let at = 0; at < token.length; at++) {
      for (const other of ["a", "2", "A", "_", ".", ""]) {
        if (token[at] === other) continue;
        expect(await mint.recognize(token.slice(0, at) + other + token.slice(at + 1))).toBeUndefined();
      }
    }
  });

  it.each<[string, Partial<Hook>]>([
    ["slug", { orgId: "other" }],
    ["kind", { kind: "gitea" }],
    ["connection", { connectionId: HOOK.connectionId.replace(/1$/, "2") }],
    ["generation", { generation: 2 }],
  ])("has another tag and another secret for another %s", async (_, change) => {
    const [own, other] = [await mint.grant(HOOK), await mint.grant({ ...HOOK, ...change })];
    expect(other.secret).not.toBe(own.secret);
    const tag = own.token.slice(-12);
    expect(other.token.slice(-12)).not.toBe(tag);
    expect(await mint.recognize(other.token.slice(0, -12) + tag)).toBeUndefined();
  });

  it.each([
    "",
    "mrh",
    "mrh_",
    "mrh_acme_github..1_AAAAAAAAAAAA",
    "mrh_acme_svn.x.1_A",
    `mrh_${"a".repeat(9_000)}`,
    "\0",
  ])("is rejected if it is malformed: %j", async (token) => {
    expect(await mint.recognize(token)).toBeUndefined();
  });

  it("is rejected with another spelling of its generation", async () => {
    const { token } = await mint.grant(HOOK);
    for (const other of [".01_", ".0_", ".-1_", ".1e0_", ".1.0_", ". 1_"]) {
      expect(await mint.recognize(token.replace(".1_", other))).toBeUndefined();
    }
  });

  it("is not a token of the API, nor is such a token an address", async () => {
    const keys = `k:${btoa("k".repeat(32))}`;
    const { token } = await loadHookMint(keys).grant(HOOK);
    expect(await loadMint(keys).recognize(token)).toBeUndefined();
    expect(await loadHookMint(keys).recognize(await loadMint(keys).mint("mrt", "acme"))).toBeUndefined();
  });

  it("keeps its secret while its key is on the ring, in any position", async () => {
    const old = await mint.grant(HOOK);
    const rotated = new HookMint([key("b", 2), key("a", 1)]);
    expect(await rotated.recognize(old.token)).toEqual({ ...HOOK, secret: old.secret });
    const fresh = await rotated.grant(HOOK);
    expect(fresh).toEqual(await new HookMint([key("b", 2)]).grant(HOOK));
    expect(fresh.secret).not.toBe(old.secret);
    expect(await rotated.recognize(fresh.token)).toEqual({ ...HOOK, secret: fresh.secret });
    expect(await new HookMint([key("b", 2)]).recognize(old.token)).toBeUndefined();
  });

  it("can be read back only under its own key", async () => {
    await fc.assert(
      fc.asyncProperty(hooks, hooks, async (hook, other) => {
        const { token, secret } = await mint.grant(hook);
        expect(await mint.recognize(token)).toEqual({ ...hook, secret });
        expect(await new HookMint([key("c", 3)]).recognize(token)).toBeUndefined();
        const swapped = (await mint.grant(other)).token.slice(0, -12) + token.slice(-12);
        if (JSON.stringify(hook) !== JSON.stringify(other)) expect(await mint.recognize(swapped)).toBeUndefined();
      }),
    );
  });

  it("never throws for any text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
        expect(await mint.recognize(`mrh_${text}`)).toBeUndefined();
      }),
    );
  });

  it("needs keys", () => {
    expect(() => loadHookMint(undefined)).toThrow(KeysUnusable);
  });
});
