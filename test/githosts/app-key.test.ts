import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { AppKey, AppKeyUnusable } from "../../src/githosts/github/app-key.ts";

const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
const PKCS1 = pair.privateKey.export({ type: "pkcs1", format: "pem" }).toString();
const PKCS8 = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const NOW = Date.parse("2026-11-25T12:00:00Z");

const read = (part: string | undefined) => JSON.parse(Buffer.from(part ?? "", "base64url").toString());

describe("the key of a GitHub App", () => {
  it.each([
    ["PKCS#1, as GitHub issues it", PKCS1],
    ["PKCS#8", PKCS8],
    ["PKCS#1 with the line ends of Windows", PKCS1.replaceAll("\n", "\r\n")],
    ["PKCS#1 of 3072 bits", generateKeyPairSync("rsa", { modulusLength: 3072 }).privateKey],
    ["PKCS#1 of 4096 bits", generateKeyPairSync("rsa", { modulusLength: 4096 }).privateKey],
  ])("signs a JWT that another program verifies: %s", async (_form, key) => {
    const pem = typeof key === "string" ? key : key.export({ type: "pkcs1", format: "pem" }).toString();
    const jwt = await (await AppKey.of(pem)).jwt("Iv23client", NOW);
    const [head, claims, signature] = jwt.split(".");
    const signed = Buffer.from(`${head}.${claims}`);
    expect(verify("sha256", signed, createPublicKey(pem), Buffer.from(signature ?? "", "base64url"))).toBe(true);
    expect(read(head)).toEqual({ alg: "RS256", typ: "JWT" });
    // GitHub rejects a JWT that lives longer than ten minutes, or that begins in the future.
    expect(read(claims)).toEqual({ iat: NOW / 1000 - 60, exp: NOW / 1000 + 540, iss: "Iv23client" });
    expect(jwt).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const small = generateKeyPairSync("rsa", { modulusLength: 512 });
  it.each<[string, string]>([
    ["nothing", ""],
    ["words", "canary"],
    ["a public key", pair.publicKey.export({ type: "spki", format: "pem" }).toString()],
    ["a public key of PKCS#1", pair.publicKey.export({ type: "pkcs1", format: "pem" }).toString()],
    ["an EC key", ec.privateKey.export({ type: "sec1", format: "pem" }).toString()],
    ["an EC key in PKCS#8", ec.privateKey.export({ type: "pkcs8", format: "pem" }).toString()],
    ["an Ed25519 key", generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString()],
    ["a key of 512 bits", small.privateKey.export({ type: "pkcs1", format: "pem" }).toString()],
    ["a key of 512 bits in PKCS#8", small.privateKey.export({ type: "pkcs8", format: "pem" }).toString()],
    [
      "a 1024-bit key",
      generateKeyPairSync("rsa", { modulusLength: 1024 })
        .privateKey.export({ type: "pkcs1", format: "pem" })
        .toString(),
    ],
    [
      "a key with a password",
      pair.privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" }).toString(),
    ],
    ["half a key", `${PKCS1.slice(0, 900)}\n-----END RSA PRIVATE KEY-----`],
    ["one label around the other's bytes", PKCS8.replaceAll("PRIVATE KEY", "RSA PRIVATE KEY")],
    ["two keys", PKCS1 + PKCS1],
    [
      "bytes that are not a key",
      `-----BEGIN RSA PRIVATE KEY-----\n${"canary12".repeat(100)}\n-----END RSA PRIVATE KEY-----`,
    ],
  ])("is rejected, and not quoted: %s", async (_what, pem) => {
    const refused = await AppKey.of(pem).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AppKeyUnusable);
    expect((refused as Error).message).toMatch(/^It (is|has) [A-Za-z0-9 ]+$/);
    expect(String((refused as Error).cause)).not.toMatch(/canary|MII/);
  });
});
