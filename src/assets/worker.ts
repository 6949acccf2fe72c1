import { join } from "node:path";
import { transform } from "esbuild";
import { build, type Plugin } from "rolldown";
import { DIST, ROOT, writeIfChanged } from "./output-files.ts";

/**
 * Writes our functions without arrows. In a module V8 reads all of a function with an arrow when the Worker starts, and
 * once more when it is called; over the body of any other it passes quickly, until it is called. A file stays as it is
 * where a function takes `this` from around it: such a function may stand before `super()`, or in a field of a class.
 */
const withoutArrows: Plugin = {
  name: "without-arrows",
  transform: {
    filter: { id: /\/src\/.*\.tsx?$/ },
    async handler(text, path) {
      const loader = path.endsWith("x") ? "tsx" : "ts";
      const supported = { arrow: false };
      const { code, map } = await transform(text, {
        ...{ loader, supported, jsx: "preserve", target: "es2024", charset: "utf8", sourcemap: true, sourcefile: path },
      });
      return /\b_(?:this|arguments)\d*\b/.test(code) ? null : { code, map };
    },
  },
};

/**
 * Bundles the Worker, or the module at `entry`, as it is deployed, with its source map beside it. What is `leftOut` stays
 * an import.
 * @returns the path of the bundle
 */
export const bundleWorker = async (
  folder = join(DIST, "worker"),
  entry = join(ROOT, "src/worker.ts"),
  leftOut: RegExp[] = [],
): Promise<string> => {
  const { output } = await build({
    input: { worker: entry },
    cwd: ROOT,
    platform: "neutral",
    // As wrangler chooses between the variants of a package.
    resolve: { conditionNames: ["workerd", "worker", "browser", "import"], mainFields: ["browser", "module", "main"] },
    external: [/^cloudflare:/, ...leftOut],
    plugins: [withoutArrows],
    write: false,
    output: { format: "esm", minify: true, comments: false, sourcemap: true, entryFileNames: "[name].js" },
  });
  for (const file of output)
    writeIfChanged(join(folder, file.fileName), file.type === "chunk" ? file.code : file.source);
  return join(folder, "worker.js");
};
