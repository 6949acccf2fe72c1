import { LIMITS } from "../../protocol/limits.ts";

/** Returns the number of parts for an artifact of this size; 0 if it is empty. */
export const countParts = (bytes: number): number => Math.ceil(bytes / LIMITS.artifactPartBytes);

/** Returns the bytes of the part with this number, from 1; null if there is no such part. */
export const partSize = (bytes: number, number: number): number | null => {
  const parts = countParts(bytes);
  if (!Number.isInteger(number) || number < 1 || number > parts) return null;
  return number < parts ? LIMITS.artifactPartBytes : bytes - (parts - 1) * LIMITS.artifactPartBytes;
};
