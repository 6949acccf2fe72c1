import { describe, expect, it } from "vitest";
import { proves } from "../../src/crypto/delivery-proof.ts";
import type { HookKind } from "../../src/crypto/hook.ts";
import CASES from "./signature-cases.json";

const KINDS: Record<string, HookKind> = { github: "github", gitlab: "gitlab", gitea: "gitea", forgejo: "gitea" };

/** Right ones that we refuse on purpose. */
const REFUSED: Record<string, string> = {
  "gl-signed": "GitLab's new signature is behind a flag there; here the token alone counts",
  "gl-signed-two": "the same",
  "gt-github-header-only": "a hook's kind has one header; Gitea never sends GitHub's without its own",
};

/** Wrong ones that a right signature does not save: they are refused by their type, which is not looked at here. */
const OTHER_TYPE = ["gh-form"];

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

const ours = CASES.filter(({ host }) => host in KINDS);
const prove = ({ host, headers, body64, secret }: (typeof CASES)[number]) =>
  proves(KINDS[host]!, new Headers(headers as Record<string, string>), bytesOf(body64), secret);

describe("the proof of a delivery", () => {
  it.each(ours.map((one) => [one.id, one] as const))("%s", async (id, one) => {
    expect(await prove(one)).toBe(OTHER_TYPE.includes(id) || (one.accept && !(id in REFUSED)));
  });

  it("was asked in every case but those of another host", () => {
    expect(CASES).toHaveLength(42);
    expect(CASES.filter((one) => !ours.includes(one)).map(({ id }) => id)).toEqual(["bb-good", "bb-none"]);
    for (const id of [...Object.keys(REFUSED), ...OTHER_TYPE]) expect(ours.map((one) => one.id)).toContain(id);
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
      expect(await proves(kind, new Headers(right), body, secret)).toBe(true);
      const headers = new Headers(right);
      headers.delete(own[kind]);
      expect(await proves(kind, headers, body, secret)).toBe(false);
      headers.set(own[kind], "x");
      expect(await proves(kind, headers, body, secret)).toBe(false);
    }
  });

  it("is nobody's without a secret", async () => {
    for (const kind of ["github", "gitlab", "gitea"] as const) {
      expect(await proves(kind, new Headers({ "X-Gitlab-Token": "" }), new Uint8Array(), "")).toBe(false);
    }
  });
});
