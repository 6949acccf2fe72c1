import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../src/local/service.ts";

interface Profile {
  nodes: { id: number; callFrame: { functionName: string } }[];
  samples: number[];
  timeDeltas: number[];
}

/** Returns the CPU milliseconds before the first request, by the profile from `wrangler check startup`. */
export const startUpCpu = (folder: string): number => {
  const profile = join(folder, "start-up.cpuprofile");
  const wrangler = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
  execFileSync(process.execPath, [wrangler, "check", "startup", "--outfile", profile], {
    cwd: ROOT,
    stdio: "ignore",
    env: { ...process.env, CI: "1" },
  });
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(profile, "utf8")) as Profile;
  const idle = new Set(
    nodes.filter(({ callFrame }) => /idle|program/.test(callFrame.functionName)).map(({ id }) => id),
  );
  return samples.reduce((sum, id, at) => sum + (idle.has(id) ? 0 : (timeDeltas[at] ?? 0)), 0) / 1000;
};
