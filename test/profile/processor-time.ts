import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Milliseconds of processor time of a file's tests, by the worker and by the processes that ended meanwhile. */
    processorMs?: number;
  }
}

const STAT = "/proc/self/stat";
const TICK_MS = 10;

/** proc(5): utime, stime, cutime and cstime are fields 14 to 17; the second field may contain blanks. */
const processorMs = (): number => {
  if (!existsSync(STAT)) return process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000;
  const fields = readFileSync(STAT, "utf8").split(") ")[1]?.split(" ") ?? [];
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * TICK_MS, 0);
};

let before = 0;
beforeAll(() => {
  before = processorMs();
});
// biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures a hook wants
afterAll(({}, file) => {
  file.meta.processorMs = processorMs() - before;
});
