import { Refusal } from "../services/core/refusal.ts";

/** Decodes a body and keeps its byte order mark. @throws Refusal malformed-body if it is not UTF-8 */
export const decodeBody = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refusal("malformed-body", "The body is not UTF-8.");
  }
};

const tooLarge = (limit: number) => new Refusal("too-large", `The body may have at most ${limit} bytes.`);

/** Reads a body of unknown length. The loop ends at the limit, before the rest arrives. */
const readChunks = async (request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
};

/**
 * Reads a body of at most `limit` bytes. The platform reads no more of a body than its Content-Length says, and shows
 * no Content-Length for a chunked body. A body with a Content-Length is therefore safe to read as a whole, which saves
 * a copy.
 * @throws Refusal too-large, before the rest is read
 */
export const readBytes = async (request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> => {
  const length = Number(request.headers.get("Content-Length") ?? Number.NaN);
  if (length > limit) throw tooLarge(limit);
  return length >= 0 ? new Uint8Array(await request.arrayBuffer()) : readChunks(request, limit);
};
