import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

/** Who may import whom, downwards only; the README shows the same table. Packages by their names' beginnings. */
const ROOMS: Record<string, { rooms: string[]; packages: string[] }> = {
  protocol: { rooms: [], packages: ["zod/mini", "zod/v4/locales", "package.json"] },
  domain: { rooms: ["protocol"], packages: ["yaml", "@actions/expressions"] },
  crypto: { rooms: [], packages: [] },
  db: { rooms: ["protocol"], packages: ["drizzle-orm", "migrations"] },
  objects: { rooms: ["protocol", "domain", "crypto", "db"], packages: ["cloudflare:workers"] },
  services: {
    rooms: ["protocol", "domain", "crypto", "db"],
    packages: ["drizzle-orm", "zod/mini", "zod/v4/core", "uuid"],
  },
  web: { rooms: ["protocol", "services"], packages: ["hono", "zod/mini", "uuid"] },
  api: { rooms: ["protocol", "services", "web"], packages: ["hono", "@hono/zod-validator", "zod/mini"] },
  dashboard: {
    rooms: ["protocol", "services", "web"],
    packages: ["hono", "zod/mini", "markdown-it", "anser", "dist/assets.json"],
  },
  assets: { rooms: ["protocol", "domain", "api"], packages: ["node:", "esbuild"] },
  agent: { rooms: ["protocol", "domain"], packages: ["node:", "commander", "ws", "zod/mini"] },
  local: { rooms: ["protocol", "crypto"], packages: ["node:"] },
};
/** Types of one room that another may name, and the one file that all above the wire may read. */
const EXCEPTIONS: Record<string, string[]> = {
  services: ["objects", "config"],
  web: ["config"],
  api: ["config"],
  objects: ["config"],
};

interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

const importsOf = (path: string, text: string): Import[] =>
  [...text.matchAll(/^\s*(import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?["']([^"']+)["']/gm)].map((match) => ({
    from: path,
    to: match[3]?.startsWith(".") ? normalize(join(dirname(path), match[3])) : (match[3] ?? ""),
    typeOnly: match[2] !== undefined,
  }));

const breaches = ({ from, to, typeOnly }: Import): string[] => {
  const room = from.split("/")[1] ?? "";
  const rules = ROOMS[room];
  if (!rules) return [];
  if (to.startsWith("src/")) {
    const target = to.split("/")[1]?.replace(/\.ts$/, "") ?? "";
    if (target === room || rules.rooms.includes(target)) return [];
    if (EXCEPTIONS[room]?.includes(target) && (target === "config" || typeOnly)) return [];
    return [`${from} imports ${to}`];
  }
  return rules.packages.some((name) => to === name || to.startsWith(name.endsWith(":") ? name : `${name}/`))
    ? []
    : [`${from} imports ${to}`];
};

const sources = globSync("src/**/*.{ts,tsx}").map((path) => ({ path, text: readFileSync(path, "utf8") }));

describe("the rooms", () => {
  it("import downwards only", () => {
    expect(sources.flatMap(({ path, text }) => importsOf(path, text).flatMap(breaches))).toEqual([]);
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
    const wrong = importsOf(
      "src/domain/x.ts",
      'import { env } from "cloudflare:workers";\nimport { a } from "../db/session.ts";',
    );
    expect(wrong.flatMap(breaches)).toEqual([
      "src/domain/x.ts imports cloudflare:workers",
      "src/domain/x.ts imports src/db/session.ts",
    ]);
    expect(importsOf("src/services/x.ts", 'import { P } from "../objects/pool.ts";').flatMap(breaches)).toHaveLength(1);
    expect(importsOf("src/services/x.ts", 'import type { P } from "../objects/pool.ts";').flatMap(breaches)).toEqual(
      [],
    );
  });
});
