import { describe, expect, it } from "vitest";
import { type Import, importsOf, sourceFiles } from "./source-files.ts";

/** Returns each import circle once, as the files along it. An import of types alone counts too. */
const circles = (imports: Import[]): string[] => {
  const targets = Map.groupBy(imports, ({ from }) => from);
  const finished = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, path: string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) found.push([...path.slice(start), file].join(" -> "));
    if (start >= 0 || finished.has(file)) return;
    for (const { to } of targets.get(file) ?? []) visit(to, [...path, file]);
    finished.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return found;
};

describe("imports", () => {
  it.each(["src/**/*.{ts,tsx}", "test/**/*.ts"])("form no circle in %s", (pattern) => {
    expect(circles(sourceFiles(pattern).flatMap(importsOf))).toEqual([]);
  });

  it("fail the check if they form a circle", () => {
    const files = [
      { path: "src/a.ts", text: 'import { b } from "./b.ts";' },
      { path: "src/b.ts", text: 'import { x } from "node:fs";\nimport type { C } from "./c.ts";' },
      { path: "src/c.ts", text: 'export { a } from "./a.ts";' },
    ];
    expect(circles(files.flatMap(importsOf))).toEqual(["src/a.ts -> src/b.ts -> src/c.ts -> src/a.ts"]);
    expect(circles(files.slice(0, 2).flatMap(importsOf))).toEqual([]);
  });
});
