import { type Arrival, ignored } from "./arrival.ts";
import { readBody } from "./body.ts";
import type { GitHost } from "./git-host.ts";

const fromHex = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** Reports whether the text is the HMAC-SHA-256 of the bytes, in hexadecimal. The runtime compares in constant time. */
export const isMac = async (
  hex: string | undefined,
  bytes: Uint8Array<ArrayBuffer>,
  secret: string,
): Promise<boolean> => {
  if (!hex) return false;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), algorithm, false, ["verify"]);
  return crypto.subtle.verify("HMAC", key, fromHex(hex), bytes);
};

/** Reports whether the sender of a delivery knows the hook's secret. @param bytes The original body. */
export const proves = async (
  host: GitHost,
  headers: Headers,
  bytes: Uint8Array<ArrayBuffer>,
  secret: string,
): Promise<boolean> => secret !== "" && host.proves(headers, bytes, secret);

/** A parsed delivery. `id` and `event` are the host's words; null if the host sent no valid one. */
export interface Delivery {
  id: string | null;
  event: string | null;
  arrival: Arrival;
}

const HEADER_VALUE = /^[\x20-\x7e]{1,100}$/;

const readHeader = (headers: Headers, names: readonly string[]): string | null =>
  names.map((name) => headers.get(name)).find((value) => value !== null && HEADER_VALUE.test(value)) ?? null;

/**
 * Reads a delivery whose proof was verified. Never throws, whatever the bytes are. Bytes that no host sends are a
 * problem. Everything else is an arrival, possibly an ignored one.
 * @param bytes The original body.
 */
export const readDelivery = (host: GitHost, headers: Headers, bytes: Uint8Array): Delivery | { problem: string } => {
  const id = readHeader(headers, host.deliveryHeaders);
  const event = readHeader(headers, [host.eventHeader]);
  const body = readBody(bytes);
  if ("problem" in body) return body;
  if ("kind" in body) return { id, event, arrival: body };
  const arrival = event === null ? ignored("The delivery names no event.") : host.readArrival(event, body.fields);
  return { id, event, arrival };
};
