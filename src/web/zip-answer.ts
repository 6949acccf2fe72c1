import type { Context as HonoContext } from "hono";
import { INERT_FILE, saveAs } from "./artifact-bytes.ts";

/** An archive that is made while it is sent. For HEAD it is not made. */
export const zipAnswer = (
  c: HonoContext,
  zip: { size: number; body(): ReadableStream<Uint8Array> },
  name: string,
): Response => {
  const length = { "Content-Length": String(zip.size), "Content-Disposition": saveAs(name) };
  const headers = { ...INERT_FILE, ...length, "Content-Type": "application/zip" };
  return c.req.raw.method === "HEAD" ? c.body(null, 200, headers) : c.body(zip.body(), 200, headers);
};
