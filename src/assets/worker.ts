import { join } from "node:path";
import { transform } from "esbuild";
import { build, type Plugin } from "rolldown";
import { DIST, ROOT, writeIfChanged } from "./output-files.ts";

/**
 * Rewrites our functions without arrows. When the Worker starts, V8 reads all of a function with an arrow, and reads it
 * again at the call. It skims other functions until their first call. A file stays unchanged if a function uses the
 * outer `this`, because such a function may be before `super()`, or in a field of a class.
 */
const withoutArrows: Plugin = {
  name: "without-arrows",
  transform: {
    filter: { id: /\/src\/.*\.tsx?$/ },
    async handler(text, path) {
      const loader = path.endsWith("x") ? "tsx" : "ts";
      const supported = { arrow: false };
      const { code, map } = await transform(text, {
        loader,
        supported,
        jsx: "preserve",
        target: "es2024",
        charset: "utf8",
        sourcemap: true,
        sourcefile: path,
      });
      return /\b_(?:this|arguments)\d*\b/.test(code) ? null : { code, map };
    },
  },
};

/**
 * Bundles the Worker, or the module at `entry`, as deployed, with its source map beside it. Modules in `leftOut` stay
 * imports.
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
    // Wrangler chooses between a package's variants in this way.
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
