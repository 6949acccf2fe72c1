import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { type PlantedRule, plant } from "../../support/plant.ts";

const ROOT = join(import.meta.dirname, "../../..");

/** Wrong rules that replace right ones. A day has to find them. */
export interface Planted {
  file: string;
  rules: Omit<PlantedRule, "file">[];
}

export const PLANTED: Record<string, Planted> = {
  "D1 errors count as wrong rows": {
    file: "src/objects/pool/lists.ts",
    rules: [
      {
        right: "/\\bSQLITE_(?:CONSTRAINT|TOOBIG|MISMATCH)/",
        wrong: "/constraint|too big|too large|too long|mismatch/i",
      },
      { right: "attempted === 1 || rejected.length < attempted", wrong: "true" },
    ],
  },
  "chores run at fixed minutes of the hour": {
    file: "src/services/upkeep/upkeep.ts",
    rules: [
      {
        right: "claimed.results.some(({ subject }) => subject === chore.name)",
        wrong: "toMinute(now) % chore.everyMinutes === 0",
      },
    ],
  },
};

const withWrongRules = (path: string, { file, rules }: Planted): string =>
  rules.reduce((text, rule) => plant(text, { file, ...rule }), readFileSync(path, "utf8"));

/** Bundles a day's Worker, with the wrong rules if there are any. @returns the bundle's path */
export const bundleDay = async (folder: string, planted?: Planted): Promise<string> => {
  const outfile = join(folder, "day-worker.js");
  await build({
    ...{ entryPoints: [join(ROOT, "test/drill/day-worker.ts")], outfile, bundle: true, minify: false },
    ...{ format: "esm", target: "es2024", external: ["cloudflare:*"], conditions: ["workerd", "worker", "browser"] },
    plugins: [
      {
        name: "planted",
        setup({ onLoad }) {
          if (!planted) return;
          const filter = new RegExp(`${planted.file.replaceAll(/[./-]/g, "\\$&")}$`);
          onLoad({ filter }, ({ path }) => ({ contents: withWrongRules(path, planted), loader: "ts" }));
        },
      },
    ],
  });
  return outfile;
};
