import { describe, expect, it } from "vitest";
import { oncePer } from "../src/once-per.ts";

describe("oncePer", () => {
  it("creates a value once for each key", () => {
    const once = oncePer<object>();
    const [one, other] = [{}, {}];
    const first = once(one, () => ({}));
    expect(once(one, () => ({}))).toBe(first);
    expect(once(other, () => ({}))).not.toBe(first);
    expect(once("text", () => first)).toBe(first);
  });

  it("keeps no failure, and no promise that another request would wait for", async () => {
    const once = oncePer<string>();
    const fail = () => {
      throw new Error("not yet");
    };
    expect(() => once("key", fail)).toThrow();
    await expect(once("key", async () => fail())).rejects.toThrow();
    const [one, two] = [once("key", async () => "one"), once("key", async () => "two")];
    expect(await Promise.all([one, two])).toEqual(["one", "two"]);
    expect(once("key", fail)).toBe("two");
  });
});
