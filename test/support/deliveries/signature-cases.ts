import { createHmac } from "node:crypto";
import type { HostKind } from "../../../src/protocol/connection.ts";

/** A request to a hook, and whether its host sent it. */
export interface SignatureCase {
  title: string;
  kind: HostKind;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer>;
  isRight: boolean;
}

export const SECRET = "mill-stone-of-the-tests-0123456789";
const bytes = (text: string) => Uint8Array.from(new TextEncoder().encode(text));
const TEXT = '{"ref":"refs/heads/main","who":"Zo\u00eb \u2615"}';
const BODY = bytes(TEXT);
const OTHER = bytes('{"ref":"refs/heads/evil"}');
/** A body that is not text. */
const BYTES = Uint8Array.from({ length: 64 }, (_, index) => 255 - index);

const mac = (body: Uint8Array, { secret = SECRET, hash = "sha256", form = "hex" as "hex" | "base64" } = {}): string =>
  createHmac(hash, secret).update(body).digest(form);

type Row = [title: string, headers: Record<string, string>, isRight?: true, body?: Uint8Array<ArrayBuffer>];

const github = (value: string) => ({ "X-Hub-Signature-256": value });
const GITHUB: Row[] = [
  ["the right signature", github(`sha256=${mac(BODY)}`), true],
  ["the right signature of bytes", github(`sha256=${mac(BYTES)}`), true, BYTES],
  ["the right signature of an empty body", github(`sha256=${mac(new Uint8Array())}`), true, new Uint8Array()],
  ["the right signature beside an old one", { ...github(`sha256=${mac(BODY)}`), "X-Hub-Signature": "sha1=0" }, true],
  ["no signature", {}],
  ["an empty signature", github("")],
  ["a signature without its prefix", github(mac(BODY))],
  ["a signature with another prefix", github(`sha512=${mac(BODY)}`)],
  ["a base64 signature", github(`sha256=${mac(BODY, { form: "base64" })}`)],
  ["a truncated signature", github(`sha256=${mac(BODY).slice(0, 63)}`)],
  ["a signature with an extra character", github(`sha256=${mac(BODY)}0`)],
  ["a signature with another secret", github(`sha256=${mac(BODY, { secret: `${SECRET}x` })}`)],
  ["a signature with an empty secret", github(`sha256=${mac(BODY, { secret: "" })}`)],
  ["a signature of another body", github(`sha256=${mac(OTHER)}`)],
  ["a signature of the body without its last byte", github(`sha256=${mac(BODY.subarray(0, -1))}`)],
  ["only a SHA-1 signature", { "X-Hub-Signature": `sha1=${mac(BODY, { hash: "sha1" })}` }],
  ["a SHA-1 signature instead of SHA-256", github(`sha256=${mac(BODY, { hash: "sha1" })}`)],
  ["Gitea's signature", { "X-Gitea-Signature": mac(BODY) }],
  ["GitLab's token", { "X-Gitlab-Token": SECRET }],
  ["a wrong signature beside Gitea's right one", { ...github("sha256=0"), "X-Gitea-Signature": mac(BODY) }],
  ["two signatures that the network joined", github(`sha256=${mac(OTHER)}, sha256=${mac(BODY)}`)],
];

const gitlab = (value: string) => ({ "X-Gitlab-Token": value });
const GITLAB: Row[] = [
  ["the right token", gitlab(SECRET), true],
  ["the right token for bytes", gitlab(SECRET), true, BYTES],
  ["no token", {}],
  ["an empty token", gitlab("")],
  ["an upper-case token", gitlab(SECRET.toUpperCase())],
  ["a truncated token", gitlab(SECRET.slice(0, -1))],
  ["a token with an extra character", gitlab(`${SECRET}0`)],
  ["a signature instead of the token", gitlab(mac(BODY))],
  ["GitHub's signature", github(`sha256=${mac(BODY)}`)],
];

const gitea = (value: string) => ({ "X-Gitea-Signature": value });
const GITEA: Row[] = [
  ["the right signature", gitea(mac(BODY)), true],
  ["the right signature beside GitHub's", { ...gitea(mac(BODY)), ...github("sha256=0") }, true],
  ["no signature", {}],
  ["an empty signature", gitea("")],
  ["a signature with GitHub's prefix", gitea(`sha256=${mac(BODY)}`)],
  ["a signature with another secret", gitea(mac(BODY, { secret: "x" }))],
  ["a signature of another body", gitea(mac(OTHER))],
  ["a signature of a form field", gitea(mac(BODY)), undefined, bytes(`payload=${encodeURIComponent(TEXT)}`)],
  ["only GitHub's right signature", github(`sha256=${mac(BODY)}`)],
];

const casesOf = (kind: HostKind, rows: Row[]): SignatureCase[] =>
  rows.map(([title, headers, isRight = false, body = BODY]) => ({
    title: `${kind}: ${title}`,
    kind,
    headers,
    body,
    isRight,
  }));

export const SIGNATURE_CASES = [...casesOf("github", GITHUB), ...casesOf("gitlab", GITLAB), ...casesOf("gitea", GITEA)];
