import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ms, quantile } from "../support/statistics.ts";

const SETTINGS = join(import.meta.dirname, "buildbot.cfg");
const BUILDS = 20;

/** If Buildbot is installed, prints its time from a trigger to the first line of a step without a checkout. */
export const printBuildbot = (): void => {
  if (spawnSync("buildbot", ["--version"]).status !== 0) return;
  const folder = mkdtempSync(join(tmpdir(), "millrace-buildbot-"));
  const options = { cwd: folder, env: { ...process.env, BUILDS: String(BUILDS) }, stdio: "ignore" as const };
  execFileSync("buildbot", ["create-master", "-c", SETTINGS, folder], options);
  execFileSync("buildbot", ["start", "--nodaemon", folder], options);
  const log = readFileSync(join(folder, "twistd.log"), "utf8");
  const times = [...log.matchAll(/to the first line: ([\d.]+)/g)].map(([, milliseconds]) => Number(milliseconds));
  rmSync(folder, { recursive: true });
  console.log(`  (Buildbot, without a checkout: p50 ${ms(quantile(times, 0.5))}, p99 ${ms(quantile(times, 0.99))})`);
};
