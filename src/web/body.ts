import { Refusal } from "../services/core/refusal.ts";

/** The text of a body, with its byte order mark where it has one. @throws Refusal malformed-body where it is not UTF-8 */
export const decodeBody = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refusal("malformed-body", "The body is not UTF-8.");
  }
};

/**
 * Reads a body of at most `limit` bytes.
 * @throws Refusal too-large, before the rest is read
 */
export const readBytes = async (request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> => {
  const tooLarge = new Refusal("too-large", `The body may have at most ${limit} bytes.`);
  if (Number(request.headers.get("Content-Length") ?? 0) > limit) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > limit) throw tooLarge;
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
