import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { sshKeyProblem } from "../../src/domain/ssh-key.ts";

const folder = mkdtempSync(join(tmpdir(), "millrace-key-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns both halves of a key from ssh-keygen. */
const made = (passphrase: string, ...options: string[]): { secret: string; open: string } => {
  const path = join(folder, crypto.randomUUID());
  execFileSync("ssh-keygen", ["-q", "-N", passphrase, "-f", path, ...options]);
  return { secret: readFileSync(path, "utf8"), open: readFileSync(`${path}.pub`, "utf8") };
};
const KINDS = [
  ["-t", "ed25519"],
  ["-t", "rsa", "-b", "2048"],
  ["-t", "ecdsa"],
  ["-t", "rsa", "-b", "2048", "-m", "PEM"],
  ["-t", "ecdsa", "-m", "PEM"],
  ["-t", "rsa", "-b", "2048", "-m", "PKCS8"],
];

describe("sshKeyProblem", () => {
  it.each(KINDS)(
    "accepts a key of ssh-keygen %s %s %s %s %s %s, and recognizes its passphrase and its public half",
    (...kind) => {
      const options = kind.filter((word) => word !== undefined);
      const { secret, open } = made("", ...options);
      for (const text of [secret, secret.trim(), secret.replaceAll("\n", "\r\n"), `\n${secret}\n`]) {
        expect(sshKeyProblem(text)).toBeNull();
      }
      expect(sshKeyProblem(open)).toContain("is a public key");
      expect(sshKeyProblem(made("a passphrase", ...options).secret)).toContain("passphrase");
    },
  );

  it("rejects other texts, and half of a key", () => {
    const { secret } = made("", "-t", "ed25519");
    const said = "must be a private key, from its BEGIN line to its END line";
    for (const text of [
      "garbage",
      "",
      secret.slice(0, -20),
      secret.slice(10),
      secret.replaceAll("\n", " "),
      secret.replace("\n", "\n\u00e9"),
    ]) {
      expect(sshKeyProblem(text)).toBe(said);
    }
    expect(sshKeyProblem("PuTTY-User-Key-File-3: ssh-ed25519\n")).toContain("PuTTY");
    const other = `-----BEGIN OPENSSH PRIVATE KEY-----\n${btoa("something else")}\n-----END OPENSSH PRIVATE KEY-----`;
    expect(sshKeyProblem(other)).toContain("OpenSSH");
  });
});
