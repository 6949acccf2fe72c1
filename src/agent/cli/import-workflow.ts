import { existsSync, lstatSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type * as Importer from "../../importer/main.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { VERSION } from "../../protocol/version.ts";
import { EXIT, ExitError } from "./exit-codes.ts";
import { logger } from "./logger.ts";

export const IMPORT_HELP = `
Parts without an equivalent become comments that begin with "# import:" and say why. Exit codes: 0 translated, with or
without such comments; 1 workflow rejected; 2 cannot read or write a file. Next: check FILE, then run FILE.`;

const IS_BUNDLED = !import.meta.url.endsWith(".ts");

/** Returns the importer's path: a file beside the program, or the output of `npm run assets` in a checkout. */
const importerPath = (): string => {
  const folder = dirname(fileURLToPath(import.meta.url));
  return IS_BUNDLED ? join(folder, "importer.mjs") : join(folder, "../../../dist/assets/importer.mjs");
};

/** Loads the importer. @throws {ExitError} */
const load = async (): Promise<typeof Importer> => {
  const place = importerPath();
  const fetch = IS_BUNDLED
    ? "download /importer.mjs from your service into this program's folder"
    : "build it with: npm run assets";
  if (!existsSync(place)) throw new ExitError(`${place} is missing: ${fetch}`, EXIT.failed);
  const importer: typeof Importer = await import(pathToFileURL(place).href);
  if (importer.version !== VERSION)
    throw new ExitError(
      `${place} is release ${importer.version}, but this program is ${VERSION}: ${fetch}`,
      EXIT.failed,
    );
  return importer;
};

/** Maximum bytes of a workflow file. This is more than its character limit can need. */
const MOST_BYTES = 4 * LIMITS.definitionCharacters;

const read = (file: string): string => {
  try {
    if (statSync(file).size > MOST_BYTES) throw new ExitError(`${file} is too large for a workflow`, EXIT.failed);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof ExitError) throw error;
    throw new ExitError(`cannot read ${file} (${(error as NodeJS.ErrnoException).code})`, EXIT.usage);
  }
};

/**
 * Reads other files of the workflow's repository. A stranger may have written the repository, so the agent reads
 * nothing outside it, follows no link, and reads no large file. Returns undefined for a workflow outside GitHub's
 * folder.
 */
const besideOf = (file: string): ((path: string) => string | undefined) | undefined => {
  const root = /^(.*)[/\\]\.github[/\\]workflows[/\\][^/\\]+$/s.exec(resolve(file))?.[1];
  if (root === undefined) return undefined;
  return (path) => {
    const parts = path.split(/[/\\]/);
    if (parts.some((one) => one === "" || one === "." || one === "..")) return undefined;
    let place = root;
    for (const [index, part] of parts.entries()) {
      place = join(place, part);
      const found = lstatSync(place, { throwIfNoEntry: false });
      const isLast = index === parts.length - 1;
      if (!found || (isLast ? !found.isFile() || found.size > MOST_BYTES : !found.isDirectory())) return undefined;
    }
    return readFileSync(place, "utf8");
  };
};

/** Writes a file, but never replaces one, because a person may have written the existing file. */
const write = (file: string, text: string): void => {
  try {
    writeFileSync(file, text, { flag: "wx" });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const advice = code === "EEXIST" ? ": remove it first, or choose another name" : "";
    throw new ExitError(`cannot write ${file} (${code})${advice}`, EXIT.usage);
  }
};

/** Translates a workflow. @returns the exit code */
export const importFile = async (file: string, output: string | null): Promise<number> => {
  const text = read(file);
  const { importWorkflow } = await load();
  const imported = await importWorkflow(text, file, besideOf(file));
  if (imported.refusal !== undefined) {
    logger.error(`cannot import ${file}: ${imported.refusal}`);
    return EXIT.failed;
  }
  if (output === null) process.stdout.write(imported.text);
  else write(output, imported.text);
  const { length } = imported.marks;
  const next = output === null ? "" : `; next: check ${output}`;
  if (length === 0) logger.info(`${file}: translated completely${next}`);
  else {
    const { minutesOf } = await load();
    const minutes = minutesOf(imported.marks);
    const [marks, work] = [length === 1 ? "mark" : "marks", minutes === 1 ? "minute" : "minutes"];
    logger.warn(`${file}: ${length} ${marks} (# import:) to review, about ${minutes} ${work} of work${next}`);
  }
  return EXIT.done;
};
