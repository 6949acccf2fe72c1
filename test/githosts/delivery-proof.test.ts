import { describe, expect, it } from "vitest";
import { proves } from "../../src/githosts/core/delivery.ts";
import { HOSTS } from "../../src/githosts/hosts.ts";
import { SECRET, SIGNATURE_CASES } from "../support/deliveries/signature-cases.ts";

describe("the proof of a delivery", () => {
  it.each(SIGNATURE_CASES.map((one) => [one.title, one] as const))(
    "is checked: %s",
    async (_, { kind, headers, body, isRight }) => {
      expect(await proves(HOSTS[kind], new Headers(headers), body, SECRET)).toBe(isRight);
    },
  );

  it("is the one that GitHub's documentation computes", async () => {
    const headers = new Headers({
      "X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    });
    const body = Uint8Array.from(new TextEncoder().encode("Hello, World!"));
    expect(await proves(HOSTS.github, headers, body, "It's a Secret to Everybody")).toBe(true);
    expect(await proves(HOSTS.github, headers, body, "It's a secret to everybody")).toBe(false);
  });

  it("counts the header of the hook's kind alone", async () => {
    const body = Uint8Array.from(new TextEncoder().encode("{}"));
    const secret = "s".repeat(32);
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), algorithm, false, ["sign"]);
    const hex = Array.from(new Uint8Array(await crypto.subtle.sign("HMAC", key, body)), (byte) =>
      byte.toString(16).padStart(2, "0"),
    ).join("");
    const right = { "X-Hub-Signature-256": `sha256=${hex}`, "X-Gitlab-Token": secret, "X-Gitea-Signature": hex };
    const own = { github: "X-Hub-Signature-256", gitlab: "X-Gitlab-Token", gitea: "X-Gitea-Signature" };
    for (const kind of ["github", "gitlab", "gitea"] as const) {
      expect(await proves(HOSTS[kind], new Headers(right), body, secret)).toBe(true);
      const headers = new Headers(right);
      headers.delete(own[kind]);
      expect(await proves(HOSTS[kind], headers, body, secret)).toBe(false);
      headers.set(own[kind], "x");
      expect(await proves(HOSTS[kind], headers, body, secret)).toBe(false);
    }
  });

  it("is impossible without a secret", async () => {
    for (const kind of ["github", "gitlab", "gitea"] as const) {
      expect(await proves(HOSTS[kind], new Headers({ "X-Gitlab-Token": "" }), new Uint8Array(), "")).toBe(false);
    }
  });
});
