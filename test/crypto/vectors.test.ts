import { describe, expect, it } from "vitest";
import { Keyring, KeyUnknown, SealBroken } from "../../src/crypto/keyring.ts";

/* Another implementation (node:crypto) sealed these values. They pin the format independently of this code. */
const ring = new Keyring([{ id: "k1", bytes: new Uint8Array(32).fill(7) }]);
const CONTEXT = ["variable", "acme", "pipeline", "p-1", "v-1", "TOKEN", "3"];
const A = "////////////////DYujZtVPnPurkJLGXkAC96o=";

describe("a sealed value from another implementation", () => {
  it.each([
    ["of no bytes, under an IV of zeros", "", "AAAAAAAAAAAAAAAADxxxkfRX16n0dFbvptKhMw=="],
    ["of one byte, under an IV of ones", "a", A],
    ["of UTF-8", "püblic 🔑", "AQIDBAUGBwgJCgsMy79U/AaDgQwVoZaPyeZsAfr6rgpGnB85D5ZAnw=="],
    ["of one block", "0123456789abcdef", "oKGio6SlpqeoqaqrotkqGHR7Hu+RrPTxi6VuliINKdFRhEXc366ZtP5hXJQ="],
    [
      "of two blocks and a byte",
      "x".repeat(33),
      "ICEiIyQlJicoKSorFAlgxJKWQqOanDcJQb7iHDbHrG5mZzzXob6VL0tz94KVi8t6wW6FyDvZetzCxdG2+g==",
    ],
  ])("opens: %s", async (_, plain, base64) => {
    expect(await ring.openText(`m1.k1.${base64}`, CONTEXT)).toBe(plain);
  });

  it.each([
    ["an IV of 16 bytes", "m1.k1.AQEBAQEBAQEBAQEBAQEBAfxDDw7nZOH7JHwf5RD5zBK0"],
    ["no associated data", "m1.k1.AQEBAQEBAQEBAQEBF9GEIQJEvmJrcNF95MbZiA8="],
    ["associated data joined without lengths", "m1.k1.AQEBAQEBAQEBAQEBF8lJDuTxj+r6OQOafeFUo5o="],
    ["associated data cut elsewhere", "m1.k1.AQEBAQEBAQEBAQEBF84ZugqkO4A0ScTIMyu5iH4="],
    ["half of the key", "m1.k1.AQEBAQEBAQEBAQEBwH2qJlt++crDxv1D/Zfct5M="],
    ["another key's id in the associated data", "m1.k1.AQEBAQEBAQEBAQEBFzGlzWo7OXGwvKJ4gA/18Zw="],
    ["a tag of 12 bytes", "m1.k1.AQEBAQEBAQEBAQEBRtC7hKSK2jnp7XR5LJU+b/Jge6MQng=="],
    ["a tag of zeros", "m1.k1.AQEBAQEBAQEBAQEBFwAAAAAAAAAAAAAAAAAAAAA="],
    ["an extra byte", `m1.k1.${btoa(`${atob(A)}\0`)}`],
    ["a leading byte", `m1.k1.${btoa(`\0${atob(A)}`)}`],
    ["nothing after the IV", "m1.k1.////////////////"],
    ["nothing", "m1.k1."],
    ["stray bits in its last letter", `m1.k1.${A.replace("o=", "p=")}`],
    ["no padding", `m1.k1.${A.replace("=", "")}`],
    ["padding twice", `m1.k1.${A}=`],
    ["a space", `m1.k1. ${A}`],
    ["a line break in it", `m1.k1.${A.slice(0, 20)}\n${A.slice(20)}`],
    ["the alphabet of URLs", `m1.k1.${A.replaceAll("/", "_")}`],
    ["a fourth part", `m1.k1.${A}.`],
    ["another format", `m2.k1.${A}`],
    ["a format in upper case", `M1.k1.${A}`],
    ["no key", `m1.${A}`],
    ["no structure", "secret"],
    ["no text", ""],
  ])("is rejected with %s", async (_, sealed) => {
    await expect(ring.open(sealed, CONTEXT)).rejects.toThrow(SealBroken);
  });

  it.each(["k2", "K1", "", "k1 ", "__proto__", "constructor"])("reports an unknown key %j", async (id) => {
    await expect(ring.open(`m1.${id}.${A}`, CONTEXT)).rejects.toThrow(KeyUnknown);
  });

  it("opens only in its own place", async () => {
    const places = [
      [],
      CONTEXT.slice(0, -1),
      [...CONTEXT, ""],
      ["", ...CONTEXT],
      CONTEXT.toReversed(),
      [CONTEXT.join("")],
      ["variable", "acmepipeline", "", ...CONTEXT.slice(3)],
      CONTEXT.with(1, "Acme"),
      CONTEXT.with(5, "TOKEN\0"),
      CONTEXT.with(6, "03"),
    ];
    for (const place of places) await expect(ring.open(`m1.k1.${A}`, place)).rejects.toThrow(SealBroken);
    expect(await ring.openText(`m1.k1.${A}`, [...CONTEXT])).toBe("a");
  });
});
