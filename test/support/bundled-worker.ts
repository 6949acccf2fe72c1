import { execFileSync } from "node:child_process";
import { basename, join } from "node:path";
import { ROOT } from "../../src/local/service.ts";

/** Bundles the Worker, or the module at `entry`, as a deployment does. Returns the path of the bundle. */
export const bundle = (
  folder: string,
  entry = join(ROOT, "src/worker.ts"),
  config = join(ROOT, "wrangler.toml"),
): string => {
  const wrangler = join(ROOT, "node_modules/wrangler/bin/wrangler.js");
  const options = ["--env=", "--dry-run", "--outdir", folder, "--config", config];
  execFileSync(process.execPath, [wrangler, "deploy", entry, ...options], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, CI: "1" },
  });
  return join(folder, basename(entry).replace(/ts$/, "js"));
};
