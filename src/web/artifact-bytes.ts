import type { Context as HonoContext } from "hono";
import type { Readable } from "../services/uploads/artifact-records.ts";
import { hasTag, parseRange, rangeWithin } from "./headers.ts";

/**
 * Headers for a build's file, which may be hostile. A browser must save the file, and must not guess its type, run it
 * or frame it.
 */
export const INERT_FILE = {
  "Content-Type": "application/octet-stream",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "sandbox; default-src 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "private, no-store",
  "Referrer-Policy": "no-referrer",
};

/** Returns the header value with which a browser saves the file under this name (RFC 6266, RFC 8187). */
export const saveAs = (name: string): string => {
  const plain = name.replaceAll(/[^A-Za-z0-9 ._-]/g, "_");
  const whole = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
};

/**
 * Answers with the bytes, or with the requested `Range`. Reads nothing for HEAD, or if the client already has the
 * bytes.
 */
export const bytesAnswer = async (
  c: HonoContext,
  source: Readable,
  headers: Record<string, string>,
): Promise<Response> => {
  const { size } = source;
  const { ETag: tag = null } = headers;
  if (tag !== null && hasTag(c.req.header("If-None-Match"), tag)) return c.body(null, 304, headers);
  const range = parseRange(c, tag);
  const { start, end } = range ? rangeWithin(range, size) : { start: 0, end: size };
  const all = { ...headers, "Accept-Ranges": "bytes" };
  if (range && start >= end) return c.body(null, 416, { ...all, "Content-Range": `bytes */${size}` });
  const part: Record<string, string> = range ? { "Content-Range": `bytes ${start}-${end - 1}/${size}` } : {};
  const headersOfPart = { ...all, ...part, "Content-Length": String(end - start) };
  const status = range ? 206 : 200;
  if (c.req.raw.method === "HEAD") return c.body(null, status, headersOfPart);
  const { readable, writable } = new FixedLengthStream(end - start);
  const body = await source.read(start, end);
  // If the client disconnects, both streams end. That is not an error.
  void body.pipeTo(writable).catch(() => {});
  return c.body(readable, status, headersOfPart);
};

/** Answers with an archive that is created while it is sent. For HEAD, creates no archive. */
export const zipAnswer = (
  c: HonoContext,
  zip: { size: number; body(): ReadableStream<Uint8Array> },
  name: string,
): Response => {
  const length = { "Content-Length": String(zip.size), "Content-Disposition": saveAs(name) };
  const headers = { ...INERT_FILE, ...length, "Content-Type": "application/zip" };
  return c.req.raw.method === "HEAD" ? c.body(null, 200, headers) : c.body(zip.body(), 200, headers);
};
