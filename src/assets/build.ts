import { readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { findPackages } from "./notices.ts";
import { DIST, ROOT, SERVED, writeIfChanged } from "./output-files.ts";

/** The policy for the viewer. Swagger UI sets styles by script. Everything else must come from this origin. */
const VIEWER_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const rule = (path: string, headers: Record<string, string>): string =>
  [path, ...Object.entries({ ...headers, "X-Content-Type-Options": "nosniff" }).map(([k, v]) => `  ${k}: ${v}`)].join(
    "\n",
  );

const IMMUTABLE = { "Cache-Control": "public, max-age=31536000, immutable" };
const TEXT = { "Content-Type": "text/plain; charset=utf-8" };
const PUBLIC = { "Access-Control-Allow-Origin": "*" };

/** The headers that Cloudflare adds to static files (`_headers`). */
const HEADERS = `${[
  rule("/app/static/*", IMMUTABLE),
  rule("/agent-*", IMMUTABLE),
  rule("/agent.mjs.sha256", TEXT),
  rule("/agent-:version.sha256", TEXT),
  rule("/THIRD-PARTY-NOTICES.txt", TEXT),
  rule("/docs/*.md", TEXT),
  rule("/docs", { "Content-Security-Policy": VIEWER_POLICY, "Referrer-Policy": "no-referrer" }),
  rule("/problems/*", { "Content-Security-Policy": PAGE_POLICY }),
  rule("/openapi.json", PUBLIC),
  rule("/schema/*", PUBLIC),
].join("\n\n")}\n`;

const STATIC = join(SERVED, "app/static");
const STATES = ["waiting", "running", "asking", "succeeded", "failed", "canceled"];
const ICONS = ["mark.svg", ...STATES.map((state) => `mark-${state}.svg`)];
const SHELL = ["page.ts", "page.css", ...ICONS].map((name) => `shell/client/${name}`);
/** The files that browsers load, each with all its imports. */
const ENTRIES = [...SHELL, "build/client/build.ts", "build/client/markdown.ts", "pipelines/client/definition.ts"].map(
  (name) => `src/dashboard/${name}`,
);

/**
 * Bundles the dashboard's scripts and style into files with a hash in their names. Writes each name's address to
 * `dist/assets.json`.
 * @returns the npm packages in the bundles
 */
export const buildAssets = async (): Promise<string[]> => {
  const { outputFiles, metafile } = await build({
    entryPoints: ENTRIES,
    outdir: STATIC,
    write: false,
    metafile: true,
    absWorkingDir: ROOT,
    entryNames: "[name].[hash]",
    assetNames: "[name].[hash]",
    loader: { ".svg": "copy", ".woff2": "file" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2024",
    charset: "utf8",
    legalComments: "none",
  });
  for (const { path, contents } of outputFiles) writeIfChanged(path, contents);
  const addresses = Object.entries(metafile.outputs).flatMap(([path, { entryPoint, inputs }]) => {
    const from = entryPoint ?? Object.keys(inputs)[0] ?? "";
    return [[basename(from).replace(/\.ts$/, ".js"), `/app/static/${basename(path)}`]];
  });
  writeIfChanged(join(DIST, "assets.json"), `${JSON.stringify(Object.fromEntries(addresses.sort()), null, 2)}\n`);
  writeIfChanged(join(SERVED, "_headers"), HEADERS);
  const current = new Set(outputFiles.map(({ path }) => basename(path)));
  for (const name of readdirSync(STATIC)) if (!current.has(name)) rmSync(join(STATIC, name), { force: true });
  return findPackages(Object.keys(metafile.inputs));
};
