import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { buildSync } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { bundleWorker } from "../../../src/assets/worker.ts";
import { endProcess, freshKeyset, ROOT } from "../../../src/local/service.ts";
import { freePort } from "../../support/local/free-port.ts";
import { readWorkerSettings } from "../../support/worker-settings.ts";
import { cpuOf, workerdProcesses } from "../support/process-usage.ts";
import { mean } from "../support/statistics.ts";
import { inTurns, type RowGroup } from "./figure.ts";

const STARTS = 3;
const SERVES = 7;
/** The last line that `npm start` prints. */
const READY = "Stop with Ctrl-C";
const WRANGLER = "node_modules/wrangler/bin/wrangler.js";

const BARE = `import { Hono } from "hono";
export default new Hono().get("/token/self", (context) => context.text("hello", 401));
`;
const BARE_SETTINGS = `name = "bare"\nmain = "worker.js"\ncompatibility_date = "2026-10-23"\n`;

const folderWith = (files: Record<string, string>): string => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-gate-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
};

/** Copies the project's files as a fresh clone has them, with the uncommitted changes. */
const freshCopy = (): string => {
  const folder = folderWith({});
  const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const files = execFileSync("git", list, { cwd: ROOT, maxBuffer: 1e8 });
  execFileSync("xargs", ["-0", "tar", "-cf", join(folder, "copy.tar")], { cwd: ROOT, input: files });
  execFileSync("tar", ["-xf", "copy.tar"], { cwd: folder });
  return folder;
};

/** Returns the milliseconds until the program has printed this text. */
const untilPrinted = (child: ChildProcess, text: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const begun = performance.now();
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (bytes) => {
        printed += bytes;
        if (printed.includes(text)) resolve(performance.now() - begun);
      });
    child.once("exit", () => reject(new Error(`The program ended before it printed "${text}":\n${printed}`)));
  });

const timeUntil = async (text: string, cwd: string, command: string[], env: Record<string, string> = {}) => {
  const [program = "", ...args] = command;
  const options = { ...process.env, CI: "1", NO_COLOR: "1", WRANGLER_SEND_METRICS: "false", ...env };
  const child = spawn(program, args, { cwd, env: options, stdio: ["ignore", "pipe", "pipe"] });
  const took = await untilPrinted(child, text);
  await endProcess(child);
  return took;
};

const timeStart = async (): Promise<number> => {
  const folder = freshCopy();
  const start = [process.execPath, "src/local/start.ts"];
  const took = await timeUntil(READY, folder, start, { PORT: String(await freePort()) });
  rmSync(folder, { recursive: true });
  return took;
};

const timeBareStart = async (folder: string): Promise<number> => {
  const where = ["--ip", "127.0.0.1", "--port", String(await freePort()), "--inspector-port", "0"];
  return timeUntil("Ready on", folder, [process.execPath, WRANGLER, "dev", ...where]);
};

/** Returns the CPU milliseconds that a new workerd needs to load this module and answer that nobody has signed in. */
const cpuUntilAnswer = async (script: string): Promise<number> => {
  const settings = readWorkerSettings(join(ROOT, "wrangler.toml"));
  const port = await freePort();
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: [{ type: "ESModule", path: "worker.js", contents: readFileSync(script, "utf8") }],
      compatibilityDate: settings.compatibility_date,
      compatibilityFlags: settings.compatibility_flags,
      bindings: { ...settings.vars, ...freshKeyset() },
      unsafeDirectSockets: [{ host: "127.0.0.1", port }],
      cf: false,
      // Drops workerd's line about the request.
      handleStructuredLogs: () => {},
    }),
  );
  await miniflare.ready;
  const { status } = await fetch(`http://127.0.0.1:${port}/token/self`);
  if (status !== 401) throw new Error(`the Worker answered ${status}`);
  const took = cpuOf(workerdProcesses()[0] ?? 0);
  await miniflare.dispose();
  return took;
};

/** Measures the service's start, on a machine and in an isolate, and the deployed bundle's size. */
export const openStart = async (): Promise<RowGroup> => {
  const bare = folderWith({ "worker.js": BARE, "wrangler.toml": BARE_SETTINGS });
  const script = await bundleWorker(join(bare, "bundle"));
  const options = { bundle: true, minify: true, format: "esm", absWorkingDir: bare, outfile: "bare.js" } as const;
  buildSync({ ...options, entryPoints: ["worker.js"] });
  return {
    rows: [
      {
        name: "npm start, beside wrangler dev of a bare Worker",
        unit: "ms",
        measure: () => inTurns(STARTS, { floor: () => timeBareStart(bare), own: timeStart }),
      },
      {
        name: "CPU until the first answer, beside hono alone",
        unit: "ms",
        measure: () =>
          inTurns(
            SERVES,
            { floor: () => cpuUntilAnswer(join(bare, "bare.js")), own: () => cpuUntilAnswer(script) },
            mean,
          ),
      },
      {
        name: "bundle, gzipped",
        unit: "kB",
        async measure() {
          return { own: gzipSync(readFileSync(script), { level: 9 }).length / 1000, floor: null };
        },
      },
    ],
    async close() {
      rmSync(bare, { recursive: true });
    },
  };
};
