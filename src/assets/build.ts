import { readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { HEADERS } from "./headers.ts";
import { packagesOf } from "./notices.ts";
import { DIST, ROOT, SERVED, write } from "./write.ts";

const STATIC = join(SERVED, "app/static");
/** What browsers load, each with all it imports. */
const ENTRIES = ["page.ts", "build.ts", "markdown.ts", "definition.ts", "page.css", "mark.svg"].map(
  (name) => `src/dashboard/client/${name}`,
);

/**
 * Compiles the browser's side into hashed files, and writes which name has which address to `dist/assets.json`.
 * @returns the packages that are in them.
 */
export const buildAssets = async (): Promise<string[]> => {
  const { outputFiles, metafile } = await build({
    entryPoints: ENTRIES,
    outdir: STATIC,
    write: false,
    metafile: true,
    absWorkingDir: ROOT,
    entryNames: "[name].[hash]",
    loader: { ".svg": "copy" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2024",
    charset: "utf8",
    legalComments: "none",
  });
  for (const { path, contents } of outputFiles) write(path, contents);
  const named = Object.entries(metafile.outputs).flatMap(([path, { entryPoint, inputs }]) => {
    const from = entryPoint ?? Object.keys(inputs)[0] ?? "";
    return [[basename(from).replace(/\.ts$/, ".js"), `/app/static/${basename(path)}`]];
  });
  write(join(DIST, "assets.json"), `${JSON.stringify(Object.fromEntries(named.sort()), null, 2)}\n`);
  write(join(SERVED, "_headers"), HEADERS);
  const current = new Set(outputFiles.map(({ path }) => basename(path)));
  for (const name of readdirSync(STATIC)) if (!current.has(name)) rmSync(join(STATIC, name), { force: true });
  return packagesOf(Object.keys(metafile.inputs));
};
