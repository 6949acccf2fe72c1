import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Import, importsOf, sourceFiles } from "./source-files.ts";

/** Who may import whom, downwards only; the README shows the same table. Packages by their names' beginnings. */
const ROOMS: Record<string, { rooms: string[]; packages: string[] }> = {
  protocol: { rooms: [], packages: ["zod/mini", "zod/v4/locales", "package.json"] },
  domain: { rooms: ["protocol"], packages: ["zod/mini", "yaml", "croner", "@actions/expressions", "saxes"] },
  importer: { rooms: ["protocol", "domain"], packages: ["yaml", "@actions/expressions", "@actions/workflow-parser"] },
  crypto: { rooms: [], packages: [] },
  db: { rooms: ["protocol"], packages: ["drizzle-orm", "migrations"] },
  archive: { rooms: ["protocol"], packages: [] },
  hosts: { rooms: ["protocol", "domain"], packages: ["zod/mini"] },
  objects: { rooms: ["protocol", "domain", "crypto", "db", "archive", "hosts"], packages: ["cloudflare:workers"] },
  services: {
    rooms: ["protocol", "domain", "crypto", "db", "archive", "hosts"],
    packages: ["drizzle-orm", "zod/mini", "zod/v4/core", "uuid"],
  },
  web: { rooms: ["protocol", "services"], packages: ["hono", "zod/mini", "uuid"] },
  api: { rooms: ["protocol", "services", "web"], packages: ["hono", "@hono/zod-validator", "zod/mini"] },
  dashboard: {
    rooms: ["protocol", "services", "web"],
    packages: ["hono", "zod/mini", "markdown-it", "anser", "dist/assets.json"],
  },
  assets: { rooms: ["protocol", "domain", "api"], packages: ["node:", "esbuild"] },
  agent: { rooms: ["protocol", "domain"], packages: ["node:", "commander", "smol-toml", "ws", "zod/mini"] },
  local: { rooms: ["protocol", "crypto"], packages: ["node:"] },
};
/** Files of no room. */
const SHARED = ["config", "once-per"];
/** Types of one room that another may name, and the files of no room that a room may import. */
const EXCEPTIONS: Record<string, string[]> = {
  services: ["objects", ...SHARED],
  web: SHARED,
  api: SHARED,
  objects: SHARED,
  local: SHARED,
  agent: ["importer"],
  db: ["once-per"],
  crypto: ["once-per"],
};

const breaches = ({ from, to, typeOnly }: Import): string[] => {
  const room = from.split("/")[1] ?? "";
  const rules = ROOMS[room];
  if (!rules) return [];
  if (to.startsWith("src/")) {
    const target = to.split("/")[1]?.replace(/\.ts$/, "") ?? "";
    if (target === room || rules.rooms.includes(target)) return [];
    if (EXCEPTIONS[room]?.includes(target) && (SHARED.includes(target) || typeOnly)) return [];
    return [`${from} imports ${to}`];
  }
  return rules.packages.some((name) => to === name || to.startsWith(name.endsWith(":") ? name : `${name}/`))
    ? []
    : [`${from} imports ${to}`];
};

const sources = sourceFiles("src/**/*.{ts,tsx}");

describe("the rooms", () => {
  it("import downwards only", () => {
    expect(sources.flatMap(importsOf).flatMap(breaches)).toEqual([]);
  });

  it("are told in the README by the same table", () => {
    const cell = (names: string[]) => (names.length > 0 ? names.join(", ") : "-");
    const rows = Object.entries(ROOMS).map(
      ([room, { rooms, packages }]) => `| \`${room}\` | ${cell(rooms)} | ${cell(packages)} |`,
    );
    const readme = readFileSync("README.md", "utf8").replaceAll(/ +/g, " ").split("\n");
    expect(readme.filter((line) => rows.includes(line))).toEqual(rows);
  });

  it("keep time and chance out of the domain", () => {
    const impure = /\bDate\.now\(|new Date\(\)|Math\.random\(|crypto\.|\bprocess\.|\bfetch\(/;
    expect(sources.filter(({ path, text }) => path.startsWith("src/domain/") && impure.test(text))).toEqual([]);
  });

  it("would be seen to be breached", () => {
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
