import { fstatSync, readSync } from "node:fs";

/** The bytes of an open file between two offsets, fewer where it ends before. */
export const readPart = (fd: number, from: number, to: number): Buffer => {
  const bytes = Buffer.alloc(Math.max(0, Math.min(fstatSync(fd).size, to) - from));
  let done = 0;
  while (done < bytes.length) {
    const count = readSync(fd, bytes, done, bytes.length - done, from + done);
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
};
