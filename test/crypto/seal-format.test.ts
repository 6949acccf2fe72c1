import { describe, expect, it } from "vitest";
import { formatSeal, keyIdOf, keyIdSql, parseSeal, sealPrefix } from "../../src/crypto/keyring.ts";

const SEALED = formatSeal("k-1", new Uint8Array([1, 2, 3]));

describe("the text of a sealed value", () => {
  it("consists of the format, the key's id and base64", () => {
    expect(SEALED).toBe("m1.k-1.AQID");
    expect(SEALED.startsWith(sealPrefix("k-1"))).toBe(true);
    expect(keyIdOf(SEALED)).toBe("k-1");
  });

  it("can be parsed, and other texts cannot", () => {
    expect(parseSeal(SEALED)).toEqual({ keyId: "k-1", bytes: new Uint8Array([1, 2, 3]) });
    for (const other of ["", "m1", "m1.k-1", "m2.k-1.AQID", "m1.k-1.AQID.x"]) expect(parseSeal(other)).toBeUndefined();
    for (const base64 of ["AQID=", "AQI", "AQJ=", "A QID", "-_"]) {
      expect(parseSeal(`m1.k-1.${base64}`)).toEqual({ keyId: "k-1" });
    }
  });

  it("has the key's id where the SQL expression reads it", () => {
    const [, from] =
      /^substr\(sealed, (\d+), instr\(substr\(sealed, \1\), '\.'\) - 1\)$/.exec(keyIdSql("sealed")) ?? [];
    expect(SEALED.slice(Number(from) - 1)).toMatch(/^k-1\./);
  });
});
