import { basename } from "node:path";
import { type SourceFile, sourceFiles } from "./source-files.ts";

/*
 * Prints the source's size: `npm run measures`. A note about a structural change quotes it before and after. Two shapes
 * with one name in two files count as doubled, since a reader has to know which one is meant.
 */

/** Comments and strings come first, so that their contents do not count as tokens. */
const TOKEN =
  /(?<comment>\/\*[\s\S]*?\*\/|\/\/.*)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\d[\w.]*|[\p{L}_$][\p{L}\p{N}_$]*|[^\s\p{L}\p{N}_$]/gu;
const DECLARATION =
  /^export\s+(?:default\s+)?(?:abstract\s+)?(?:async\s+)?(?:const|let|function\*?|class|interface|type|enum)\s+([\p{L}_$][\p{L}\p{N}_$]*)/gmu;
const NAMED = /^export\s+(?:type\s+)?\{([^}]*)\}/gm;

const tokensOf = ({ text }: SourceFile): number =>
  [...text.matchAll(TOKEN)].filter(({ groups }) => groups?.comment === undefined).length;

const namesOf = ({ text }: SourceFile): string[] => [
  ...[...text.matchAll(DECLARATION)].map(([, name = ""]) => name),
  ...[...text.matchAll(NAMED)]
    .flatMap(([, list = ""]) => list.split(","))
    .map((entry) =>
      entry
        .trim()
        .replace(/^type /, "")
        .replace(/^.* as /, ""),
    )
    .filter((name) => name !== ""),
];

const CALLED_OF =
  /^\s*(?:export\s+)?(?:const|function)\s+\w+Of\b\s*(?:=|\(|<)|^\s+(?:static\s+|async\s+)?#?\w+Of\([^)]*\)[^;]*\{$/gm;

/** Returns the figures for a set of files, and the exported names that several files share. */
export const measure = (files: readonly SourceFile[]) => {
  const owners = new Map<string, Set<string>>();
  for (const file of files)
    for (const name of namesOf(file)) owners.set(name, (owners.get(name) ?? new Set()).add(file.path));
  const sum = (count: (file: SourceFile) => number): number => files.reduce((total, file) => total + count(file), 0);
  return {
    files: files.length,
    lines: sum(({ text }) => text.split("\n").length - 1),
    tokens: sum(tokensOf),
    names: owners.size,
    /** Functions called `xOf`: names without a verb. */
    calledOf: sum(({ text }) => text.match(CALLED_OF)?.length ?? 0),
    doubled: [...owners].filter(([, paths]) => paths.size > 1),
  };
};

if (basename(process.argv[1] ?? "") === "measures.ts") {
  const { doubled, ...figures } = measure(sourceFiles("src/**/*.{ts,tsx}"));
  for (const [what, figure] of Object.entries(figures)) console.log(`${what.padEnd(8)}${figure}`);
  console.log(`doubled ${doubled.length}`);
  if (process.argv.includes("--doubled"))
    for (const [name, paths] of doubled) console.log(`  ${name}  ${[...paths].join(" ")}`);
}
