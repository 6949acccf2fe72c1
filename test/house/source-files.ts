import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

export interface SourceFile {
  path: string;
  text: string;
}

export interface Import {
  from: string;
  /** A path from the repository's root, or a package's name. */
  to: string;
  typeOnly: boolean;
}

export const sourceFiles = (pattern: string): SourceFile[] =>
  globSync(pattern, { exclude: ["**/node_modules/**", "test/releases/[0-9]*/**"] }).map((path) => ({
    path,
    text: readFileSync(path, "utf8"),
  }));

export const importsOf = ({ path, text }: SourceFile): Import[] =>
  [...text.matchAll(/^\s*(import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?["']([^"']+)["']/gm)].map((match) => ({
    from: path,
    to: match[3]?.startsWith(".") ? normalize(join(dirname(path), match[3])) : (match[3] ?? ""),
    typeOnly: match[2] !== undefined,
  }));
