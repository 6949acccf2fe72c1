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
  ["the right one", github(`sha256=${mac(BODY)}`), true],
  ["the right one over bytes", github(`sha256=${mac(BYTES)}`), true, BYTES],
  ["the right one over nothing", github(`sha256=${mac(new Uint8Array())}`), true, new Uint8Array()],
  ["the right one beside an old one", { ...github(`sha256=${mac(BODY)}`), "X-Hub-Signature": "sha1=0" }, true],
  ["none", {}],
  ["an empty one", github("")],
  ["one without its prefix", github(mac(BODY))],
  ["one with another prefix", github(`sha512=${mac(BODY)}`)],
  ["one in base64", github(`sha256=${mac(BODY, { form: "base64" })}`)],
  ["one that is cut", github(`sha256=${mac(BODY).slice(0, 63)}`)],
  ["one that continues", github(`sha256=${mac(BODY)}0`)],
  ["one of another secret", github(`sha256=${mac(BODY, { secret: `${SECRET}x` })}`)],
  ["one of no secret", github(`sha256=${mac(BODY, { secret: "" })}`)],
  ["one of another body", github(`sha256=${mac(OTHER)}`)],
  ["one of the body without its last byte", github(`sha256=${mac(BODY.subarray(0, -1))}`)],
  ["SHA-1 alone", { "X-Hub-Signature": `sha1=${mac(BODY, { hash: "sha1" })}` }],
  ["SHA-1 in the place of SHA-256", github(`sha256=${mac(BODY, { hash: "sha1" })}`)],
  ["Gitea's", { "X-Gitea-Signature": mac(BODY) }],
  ["GitLab's", { "X-Gitlab-Token": SECRET }],
  ["a wrong one beside Gitea's right one", { ...github("sha256=0"), "X-Gitea-Signature": mac(BODY) }],
  ["two that the network joined", github(`sha256=${mac(OTHER)}, sha256=${mac(BODY)}`)],
];

const gitlab = (value: string) => ({ "X-Gitlab-Token": value });
const GITLAB: Row[] = [
  ["the right one", gitlab(SECRET), true],
  ["the right one over bytes", gitlab(SECRET), true, BYTES],
  ["none", {}],
  ["an empty one", gitlab("")],
  ["one in capitals", gitlab(SECRET.toUpperCase())],
  ["one that is cut", gitlab(SECRET.slice(0, -1))],
  ["one that continues", gitlab(`${SECRET}0`)],
  ["a signature with the right secret", gitlab(mac(BODY))],
  ["GitHub's", github(`sha256=${mac(BODY)}`)],
];

const gitea = (value: string) => ({ "X-Gitea-Signature": value });
const GITEA: Row[] = [
  ["the right one", gitea(mac(BODY)), true],
  ["the right one beside GitHub's", { ...gitea(mac(BODY)), ...github("sha256=0") }, true],
  ["none", {}],
  ["an empty one", gitea("")],
  ["one with GitHub's prefix", gitea(`sha256=${mac(BODY)}`)],
  ["one of another secret", gitea(mac(BODY, { secret: "x" }))],
  ["one of another body", gitea(mac(OTHER))],
  ["one of a form's field", gitea(mac(BODY)), undefined, bytes(`payload=${encodeURIComponent(TEXT)}`)],
  ["GitHub's right one alone", github(`sha256=${mac(BODY)}`)],
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
