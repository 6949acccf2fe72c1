import { sameText } from "../../crypto/signer.ts";
import type { HostKind } from "../../protocol/connection.ts";
import { giteaArrival } from "../gitea/deliveries.ts";
import { githubArrival } from "../github/deliveries.ts";
import { gitlabArrival } from "../gitlab/deliveries.ts";
import { type Arrival, ignored } from "./arrival.ts";
import { type Fields, readBody } from "./body.ts";
import type { HookKind } from "./hook-address.ts";

const fromHex = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** The comparison is the runtime's, in constant time. */
const isMac = async (hex: string | undefined, bytes: Uint8Array<ArrayBuffer>, secret: string): Promise<boolean> => {
  if (!hex) return false;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), algorithm, false, ["verify"]);
  return crypto.subtle.verify("HMAC", key, fromHex(hex), bytes);
};

/**
 * Whether who sent a delivery knows the hook's secret. One header counts for a kind, whatever else was sent: a wrong
 * one is not saved by a right one of another kind. Forgejo's own header counts before Gitea's.
 * @param bytes The body as it came.
 */
export const proves = async (
  kind: HookKind,
  headers: Headers,
  bytes: Uint8Array<ArrayBuffer>,
  secret: string,
): Promise<boolean> => {
  if (secret === "") return false;
  switch (kind) {
    case "github":
      return isMac(/^sha256=([0-9a-f]{64})$/.exec(headers.get("X-Hub-Signature-256") ?? "")?.[1], bytes, secret);
    case "gitea": {
      const signature = headers.get("X-Forgejo-Signature") ?? headers.get("X-Gitea-Signature") ?? "";
      return isMac(/^[0-9a-f]{64}$/.exec(signature)?.[0], bytes, secret);
    }
    case "gitlab":
      return sameText(headers.get("X-Gitlab-Token") ?? "", secret);
  }
};

interface Host {
  event: string;
  /** The first one that was sent counts: the same over all attempts to deliver the same. */
  delivery: string[];
  arrival: (event: string, fields: Fields) => Arrival;
}

const HOSTS: Record<HostKind, Host> = {
  github: { event: "X-GitHub-Event", delivery: ["X-GitHub-Delivery"], arrival: githubArrival },
  gitlab: {
    event: "X-Gitlab-Event",
    delivery: ["Idempotency-Key", "X-Gitlab-Event-UUID"],
    arrival: gitlabArrival,
  },
  gitea: { event: "X-Gitea-Event", delivery: ["X-Gitea-Delivery"], arrival: giteaArrival },
};

/** A delivery that was understood. `id` and `event` are the host's words, null where it sent none that fit. */
export interface Delivery {
  id: string | null;
  event: string | null;
  arrival: Arrival;
}

const HEADER_VALUE = /^[\x20-\x7e]{1,100}$/;

const headerOf = (headers: Headers, names: string[]): string | null =>
  names.map((name) => headers.get(name)).find((value) => value !== null && HEADER_VALUE.test(value)) ?? null;

/**
 * Reads a delivery whose proof was checked. Nothing in the bytes makes it throw: what no host sends is a problem,
 * everything else an arrival, if only an ignored one.
 * @param bytes The body as it came.
 */
export const readDelivery = (kind: HostKind, headers: Headers, bytes: Uint8Array): Delivery | { problem: string } => {
  const host = HOSTS[kind];
  const id = headerOf(headers, host.delivery);
  const event = headerOf(headers, [host.event]);
  const body = readBody(bytes);
  if ("problem" in body) return body;
  if ("kind" in body) return { id, event, arrival: body };
  return {
    id,
    event,
    arrival: event === null ? ignored("The delivery names no event.") : host.arrival(event, body.fields),
  };
};
