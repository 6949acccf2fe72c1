import { existsSync } from "node:fs";

export type Storage = "memory" | "disk";
const MEMORY = "/dev/shm";

/**
 * Lets what is served meanwhile keep its state in memory, where the machine can. On a disk a local workerd syncs each
 * commit on the one thread that serves all requests, which measures the disk and is nothing the platform does.
 */
export const keptIn = async <T>(storage: Storage, serve: () => Promise<T>): Promise<T> => {
  const before = process.env.TMPDIR;
  if (storage === "memory" && existsSync(MEMORY)) process.env.TMPDIR = MEMORY;
  try {
    return await serve();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
};
