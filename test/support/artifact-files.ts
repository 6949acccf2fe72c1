import { createHash } from "node:crypto";
import type { ArtifactFile } from "../../src/protocol/artifact.ts";

const TABLE = Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

/** Computes the CRC-32 (ISO 3309) in 8 hexadecimal digits. */
export const crc32 = (bytes: Uint8Array): string => {
  let value = 0xffffffff;
  for (const byte of bytes) value = (TABLE[(value ^ byte) & 0xff]! ^ (value >>> 8)) >>> 0;
  return ((value ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
};

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Files by path: as texts, or as bytes. */
export type Files = Record<string, string | Uint8Array>;

const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === "string" ? new TextEncoder().encode(content) : content;

/** Returns the list of these files, and all their bytes one after the other. */
export const packed = (files: Files, mode: "644" | "755" = "644"): { list: ArtifactFile[]; bytes: Uint8Array } => {
  const contents = Object.values(files).map(bytesOf);
  const list = Object.keys(files).map((path, index) => {
    const content = contents[index]!;
    return { path, size: content.length, mode, sha256: sha256(content), crc32: crc32(content) };
  });
  const bytes = new Uint8Array(contents.reduce((sum, content) => sum + content.length, 0));
  let at = 0;
  for (const content of contents) {
    bytes.set(content, at);
    at += content.length;
  }
  return { list, bytes };
};
