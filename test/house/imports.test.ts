import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Import, importsOf, sourceFiles } from "./source-files.ts";

/**
 * The imports that each layer may have, downwards only. docs/contributing.md shows the same table. Packages are listed
 * by the beginnings of their names.
 */
const LAYERS: Record<string, { layers: string[]; packages: string[] }> = {
  protocol: { layers: [], packages: ["zod/mini", "zod/v4/locales", "package.json"] },
  domain: { layers: ["protocol"], packages: ["zod/mini", "croner", "saxes"] },
  mask: { layers: ["domain"], packages: [] },
  pipeline: { layers: ["protocol", "domain"], packages: ["zod/mini", "yaml", "@actions/expressions"] },
  crypto: { layers: [], packages: [] },
  githosts: { layers: ["protocol", "domain", "pipeline", "crypto"], packages: ["zod/mini"] },
  queue: { layers: ["protocol", "domain", "pipeline", "githosts"], packages: ["zod/mini"] },
  importer: {
    layers: ["protocol", "domain", "pipeline"],
    packages: ["yaml", "@actions/expressions", "@actions/workflow-parser"],
  },
  db: { layers: ["protocol"], packages: ["drizzle-orm", "migrations"] },
  archive: { layers: ["protocol"], packages: [] },
  objects: {
    layers: ["protocol", "domain", "mask", "pipeline", "githosts", "queue", "crypto", "db", "archive"],
    packages: ["cloudflare:workers"],
  },
  services: {
    layers: ["protocol", "domain", "pipeline", "githosts", "queue", "crypto", "db", "archive"],
    packages: ["drizzle-orm", "zod/mini", "zod/v4/core", "uuid"],
  },
  web: { layers: ["protocol", "services"], packages: ["hono", "zod/mini", "uuid"] },
  api: { layers: ["protocol", "services", "web"], packages: ["hono", "@hono/zod-validator", "zod/mini"] },
  dashboard: {
    layers: ["protocol", "services", "web"],
    packages: ["hono", "zod/mini", "markdown-it", "anser", "dist/assets.json"],
  },
  assets: { layers: ["protocol", "pipeline", "api"], packages: ["node:", "esbuild", "rolldown"] },
  agent: {
    layers: ["protocol", "domain", "mask", "pipeline", "githosts", "queue"],
    packages: ["node:", "commander", "smol-toml", "ws", "zod/mini"],
  },
  local: { layers: ["protocol", "crypto"], packages: ["node:"] },
};
/** Files outside the layers. */
const SHARED = ["config", "log", "once-per"];
/** Types that another layer may name, and files outside the layers that a layer may import. */
const EXCEPTIONS: Record<string, string[]> = {
  services: ["objects", ...SHARED],
  web: SHARED,
  api: SHARED,
  objects: SHARED,
  local: SHARED,
  agent: ["importer"],
  db: ["once-per"],
  crypto: ["once-per"],
  githosts: ["once-per"],
};

const breaches = ({ from, to, typeOnly }: Import): string[] => {
  const layer = from.split("/")[1] ?? "";
  const rules = LAYERS[layer];
  if (!rules) return [];
  if (to.startsWith("src/")) {
    const target = to.split("/")[1]?.replace(/\.ts$/, "") ?? "";
    if (target === layer || rules.layers.includes(target)) return [];
    if (EXCEPTIONS[layer]?.includes(target) && (SHARED.includes(target) || typeOnly)) return [];
    return [`${from} imports ${to}`];
  }
  return rules.packages.some((name) => to === name || to.startsWith(name.endsWith(":") ? name : `${name}/`))
    ? []
    : [`${from} imports ${to}`];
};

/** Layers with pure functions: equal arguments give equal results. `githosts` also has the requests to the hosts. */
const PURE = /^src\/(?:domain|mask|pipeline|queue)\//;

const sources = sourceFiles("src/**/*.{ts,tsx}");

describe("the layers", () => {
  it("import only lower layers", () => {
    expect(sources.flatMap(importsOf).flatMap(breaches)).toEqual([]);
  });

  it("match the table in docs/contributing.md", () => {
    const cell = (names: string[]) => (names.length > 0 ? names.join(", ") : "-");
    const rows = Object.entries(LAYERS).map(
      ([layer, { layers, packages }]) => `| \`${layer}\` | ${cell(layers)} | ${cell(packages)} |`,
    );
    const page = readFileSync("docs/contributing.md", "utf8").replaceAll(/ +/g, " ").split("\n");
    expect(page.filter((line) => rows.includes(line))).toEqual(rows);
  });

  it("keep clocks and randomness out of the domain", () => {
    const impure = /\bDate\.now\(|new Date\(\)|Math\.random\(|crypto\.|\bprocess\.|\bfetch\(/;
    expect(sources.filter(({ path, text }) => PURE.test(path) && impure.test(text))).toEqual([]);
  });

  it("fail the check with a forbidden import", () => {
    const wrong = importsOf({
      path: "src/domain/x.ts",
      text: 'import { env } from "cloudflare:workers";\nimport { a } from "../db/session.ts";',
    });
    expect(wrong.flatMap(breaches)).toEqual([
      "src/domain/x.ts imports cloudflare:workers",
      "src/domain/x.ts imports src/db/session.ts",
    ]);
    expect(
      importsOf({ path: "src/services/x.ts", text: 'import { P } from "../objects/pool.ts";' }).flatMap(breaches),
    ).toHaveLength(1);
    expect(
      importsOf({ path: "src/services/x.ts", text: 'import type { P } from "../objects/pool.ts";' }).flatMap(breaches),
    ).toEqual([]);
  });
});
