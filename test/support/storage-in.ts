import { existsSync, statfsSync } from "node:fs";

export type Storage = "memory" | "disk";
const MEMORY = "/dev/shm";
/** The most bytes that all tests and a bench need. Containers often have 64 MB of it. */
const ENOUGH = 4e9;

const hasMemory = (): boolean => {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > ENOUGH;
};

/**
 * From now on, services of this process keep their state in memory, if the machine can. On a disk, a local workerd
 * syncs each commit on the thread that serves all requests. This would measure the disk, which Cloudflare does not do.
 */
export const storeInMemory = (): void => {
  if (hasMemory()) process.env.TMPDIR = MEMORY;
};

/** Keeps the state of the service that `serve` starts in memory, if the machine can, or on its disk. */
export const withStorageIn = async <T>(storage: Storage, serve: () => Promise<T>): Promise<T> => {
  const before = process.env.TMPDIR;
  if (storage === "memory") storeInMemory();
  try {
    return await serve();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
};
