import { describe, expect, it } from "vitest";
import { Keyring, KeyUnknown, loadKeyring, SealBroken } from "../../src/crypto/keyring.ts";
import { KeysUnusable } from "../../src/crypto/keys.ts";
import { loadMint, randomText } from "../../src/crypto/token.ts";

const key = (id: string, fill: number) => ({ id, bytes: new Uint8Array(32).fill(fill) });

describe("the keyring", () => {
  const ring = new Keyring([key("b", 2), key("a", 1)]);
  const context = ["variable", "acme", "organization", "acme", "id-1", "TOKEN", "1"];

  it("opens its sealed values in the same context only", async () => {
    const sealed = await ring.seal("the value", context);
    expect(await ring.openText(sealed, context)).toBe("the value");
    for (const [index] of context.entries()) {
      const other = context.with(index, "x");
      await expect(ring.openText(sealed, other)).rejects.toThrow(SealBroken);
    }
    await expect(ring.openText(sealed, ["variable", "acmeorganization", ...context.slice(3)])).rejects.toThrow(
      SealBroken,
    );
  });

  it("rejects every flipped bit and every shortened value with the same error", async () => {
    const sealed = await ring.seal("v", context);
    const head = sealed.lastIndexOf(".") + 1;
    const bytes = Uint8Array.from(atob(sealed.slice(head)), (c) => c.charCodeAt(0));
    const rebuilt = (changed: Uint8Array) => sealed.slice(0, head) + btoa(String.fromCharCode(...changed));
    expect(await ring.openText(rebuilt(bytes), context)).toBe("v");
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = bytes.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      await expect(ring.open(rebuilt(flipped), context)).rejects.toThrow(SealBroken);
    }
    for (let length = 0; length < bytes.length; length++) {
      await expect(ring.open(rebuilt(bytes.slice(0, length)), context)).rejects.toThrow(SealBroken);
    }
  });

  it("seals with the first key and opens with any", async () => {
    const old = await new Keyring([key("a", 1)]).seal("old", context);
    expect(await ring.openText(old, context)).toBe("old");
    expect((await ring.seal("new", context)).startsWith("m1.b.")).toBe(true);
    await expect(new Keyring([key("c", 3)]).open(old, context)).rejects.toThrow(KeyUnknown);
  });

  it.each([
    ["", "not set"],
    ["a", "form id:base64"],
    [`a:${btoa("short")}`, "not 32 bytes"],
    [`a:${btoa("x".repeat(32))},a:${btoa("y".repeat(32))}`, "same id"],
  ])("says what is wrong with %j without quoting it", (text, reason) => {
    expect(() => loadKeyring(text)).toThrow(KeysUnusable);
    expect(() => loadKeyring(text)).toThrow(reason);
  });
});

describe("the mint", () => {
  const mint = loadMint(`k:${btoa("k".repeat(32))}`);

  it("recognizes its own tokens and no others", async () => {
    const token = await mint.mint("mrt", "acme");
    expect(token).toMatch(/^mrt_acme_[A-Za-z0-9]{42}$/);
    expect(await mint.recognize(token)).toEqual({ prefix: "mrt", orgId: "acme" });
    for (let at = 9; at < token.length; at++) {
      const forged = token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1);
      expect(await mint.recognize(forged)).toBeUndefined();
    }
    expect(await mint.recognize(token.replace("mrt_acme", "mrt_other"))).toBeUndefined();
    expect(await mint.recognize(token.replace("mrt_", "mra_"))).toBeUndefined();
    expect(await loadMint(`k:${btoa("j".repeat(32))}`).recognize(token)).toBeUndefined();
  });

  it("uses its whole alphabet", () => {
    expect(new Set(randomText(5000)).size).toBe(62);
  });
});
