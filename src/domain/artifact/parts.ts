import { LIMITS } from "../../protocol/limits.ts";

/** How many parts an artifact of so many bytes is sent in; none where it has no byte. */
export const countParts = (bytes: number): number => Math.ceil(bytes / LIMITS.artifactPartBytes);

/** Bytes of the part with this number, from 1; null where there is no such part. */
export const partSize = (bytes: number, number: number): number | null => {
  const parts = countParts(bytes);
  if (!Number.isInteger(number) || number < 1 || number > parts) return null;
  return number < parts ? LIMITS.artifactPartBytes : bytes - (parts - 1) * LIMITS.artifactPartBytes;
};
