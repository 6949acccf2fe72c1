import { readdirSync, readFileSync } from "node:fs";

const MILLISECONDS = 5;

/** Collects the command lines of all processes on this machine until `stop`. */
export const watchCommandLines = (): { seen: Set<string>; stop(): void } => {
  const seen = new Set<string>();
  const look = () => {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        seen.add(readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "));
      } catch {
        // The process ended in between.
      }
    }
  };
  const timer = setInterval(look, MILLISECONDS);
  return { seen, stop: () => clearInterval(timer) };
};
