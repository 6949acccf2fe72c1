import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { build } from "esbuild";

const ROOT = join(import.meta.dirname, "../..");
const DIST = join(ROOT, "dist");
/** The folder that is served as it is, beside the Worker. */
const SERVED = join(DIST, "assets");
const STATIC = join(SERVED, "app/static");
/** What browsers load, each with all it imports. */
const ENTRIES = ["page.ts", "build.ts", "page.css", "mark.svg"].map((name) => `src/dashboard/client/${name}`);

/** Whoever builds at the same moment writes the same bytes: a file that is right already is left alone. */
const write = (path: string, bytes: Uint8Array | string): void => {
  const wanted = Buffer.from(bytes);
  if (existsSync(path) && readFileSync(path).equals(wanted)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, wanted);
  renameSync(`${path}.${process.pid}`, path);
};

const HEADERS = `/app/static/*
  Cache-Control: public, max-age=31536000, immutable
  X-Content-Type-Options: nosniff
`;

/** Compiles the browser's side into hashed files, and writes which name has which address to `dist/assets.json`. */
export const buildAssets = async (): Promise<void> => {
  const { outputFiles, metafile } = await build({
    ...{ entryPoints: ENTRIES, outdir: STATIC, write: false, metafile: true },
    ...{ absWorkingDir: ROOT, entryNames: "[name].[hash]", loader: { ".svg": "copy" } },
    ...{ bundle: true, minify: true, format: "esm", target: "es2024", charset: "utf8", legalComments: "none" },
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
};
