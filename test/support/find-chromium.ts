import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/** A browser to start, and the extra variables of its environment. */
export interface ChromiumProgram {
  executablePath: string;
  env: Record<string, string>;
}

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"];
const MAC = ["Google Chrome", "Chromium"].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);

/** The package's folder, which has its own lockfile: most machines never install it. */
const PACKAGE = join(import.meta.dirname, "../browser");
const UNPACKED = join(PACKAGE, "node_modules/.cache");
const FONTS_CONF = join(UNPACKED, "fonts.conf");
const MISSING =
  "Found no Chrome or Chromium. Install one (Debian: apt-get install chromium; macOS: brew install --cask google-chrome), or set CHROME_PATH to its program.";

const installed = (): string | undefined => {
  const folders = (process.env.PATH ?? "").split(delimiter).concat("/usr/bin", "/snap/bin");
  return [...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))), ...MAC].find((path) =>
    existsSync(path),
  );
};

const run = (command: string, args: string[], env: Record<string, string> = {}): void => {
  const { status, stderr } = spawnSync(command, args, { cwd: PACKAGE, env: { ...process.env, ...env } });
  if (status !== 0) throw new Error(`${MISSING} (${command} failed: ${stderr})`);
};

/** Unpacks Chromium, its libraries and a font into the temporary folder; the variable requests the libraries. */
const UNPACK = 'const { default: chromium } = await import("@sparticuz/chromium"); await chromium.executablePath();';

/**
 * fonts-conf(5). The package's own file names fixed folders. Without any font this Chromium crashes at the first form.
 */
const fontsConf = (fonts: string, cache: string): string =>
  `<?xml version="1.0"?>\n<fontconfig><dir>${fonts}</dir><cachedir>${cache}</cachedir></fontconfig>\n`;

/** Installs the Linux build in the npm package `@sparticuz/chromium`. The only system library that it needs is libc. */
const fromNpm = (): ChromiumProgram => {
  const executablePath = join(UNPACKED, "chromium");
  if (!existsSync(executablePath)) {
    console.error("Found no Chrome or Chromium: installing one from npm (67 MB), once.");
    run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", PACKAGE]);
    mkdirSync(UNPACKED, { recursive: true });
    run(process.execPath, ["--input-type=module", "--eval", UNPACK], {
      TMPDIR: UNPACKED,
      AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
    });
    writeFileSync(FONTS_CONF, fontsConf(join(UNPACKED, "fonts/fonts"), join(UNPACKED, "font-cache")));
  }
  return { executablePath, env: environmentOf(executablePath) };
};

/** Returns where the program from npm finds its libraries and its font. A system's own Chromium needs nothing. */
const environmentOf = (executablePath: string): Record<string, string> =>
  dirname(executablePath) === UNPACKED
    ? { LD_LIBRARY_PATH: join(UNPACKED, "al2023/lib"), FONTCONFIG_FILE: FONTS_CONF }
    : {};

/**
 * Finds `CHROME_PATH`, or a browser of the system, or on Linux (x64) one from npm. @throws with instructions to install
 * one
 */
export const findChromium = (): ChromiumProgram => {
  const chosen = process.env.CHROME_PATH;
  if (chosen && !existsSync(chosen)) throw new Error(`CHROME_PATH is ${chosen}, which does not exist.`);
  const executablePath = chosen ?? installed();
  if (executablePath) return { executablePath, env: environmentOf(executablePath) };
  if (process.platform !== "linux" || process.arch !== "x64") throw new Error(MISSING);
  return fromNpm();
};

/** Runs once for all tests, before the first starts a browser. Two at once would install it twice. */
export const setup = (): void => {
  process.env.CHROME_PATH = findChromium().executablePath;
};
