import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "../../src/assets/output-files.ts";
import { type GitRepository, makeRepository } from "../support/local/git-repository.ts";

/** A project that the drill builds twice. */
export interface Project {
  name: string;
  git: GitRepository;
  /** Files that the drill adds or changes before the second build. */
  change: Record<string, string>;
}

/** Writes files on the current branch, and commits all. */
export const commit = (git: GitRepository, files: Record<string, string>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(git.work, path)), { recursive: true });
    writeFileSync(join(git.work, path), text);
  }
  git.git("add", "--all");
  git.git("commit", "--quiet", "--message", "Change");
};

/** This project's packages, as the same lock file installed them. */
const NPM = `steps:
  - run: test -d node_modules || npm ci --ignore-scripts --no-audit --no-fund
cache: [{ name: packages, files: package-lock.json, path: node_modules }]
`;

const npmProject = (folder: string): Project => {
  const files = Object.fromEntries(
    ["package.json", "package-lock.json", "test/clients/package.json"].map((path) => [
      path,
      readFileSync(join(ROOT, path), "utf8"),
    ]),
  );
  const git = makeRepository(folder, { ".millrace.yml": NPM, ...files });
  return { name: "npm ci in this project", git, change: { "a.txt": "changed\n" } };
};

/** An npm package that contains SQLite's amalgamation: a quarter of a million lines of C. */
const SQLITE = "better-sqlite3@12.2.0";

/** Objects that make keeps if neither paths nor times have changed. */
const C = `checkout: { path: stable, mtimes: commit }
steps:
  - run: make
cache: [{ name: objects, files: Makefile, path: out }]
`;
const MAKEFILE = `out/app: out/sqlite3.o out/main.o
\tcc -o $@ $^ -lm -lpthread -ldl
out/%.o: %.c
\tmkdir -p out; cc -O2 -c -o $@ $<
`;
const mainInC = (word: string) =>
  `extern const char *sqlite3_libversion(void);\nint puts(const char *);\nint main(void) { puts("${word}"); return puts(sqlite3_libversion()) < 0; }\n`;

const cProject = (folder: string): Project => {
  const packed = mkdtempSync(join(tmpdir(), "millrace-warm-"));
  execFileSync("npm", ["pack", "--silent", SQLITE], { cwd: packed });
  execFileSync("sh", ["-c", "tar -xzf *.tgz; cd package/deps; ls *.tar.gz 2> /dev/null | xargs -r -n 1 tar -xzf"], {
    cwd: packed,
  });
  const [path = ""] = execFileSync("find", [packed, "-name", "sqlite3.c"], { encoding: "utf8" }).split("\n");
  const git = makeRepository(folder, { ".millrace.yml": C, Makefile: MAKEFILE, "main.c": mainInC("first") });
  cpSync(path, join(git.work, "sqlite3.c"));
  rmSync(packed, { recursive: true });
  commit(git, {});
  return { name: "make of SQLite and a program", git, change: { "main.c": mainInC("second") } };
};

const MODULES = 12;
const CLASSES = 25;

/**
 * Java in modules. Their jars are below HOME by their sources' hash, as in Gradle's build cache. The agent saves a new
 * entry when a source changes, and starts from the newest earlier one.
 */
const JAVA = `steps:
  - run: sh build.sh
cache: [{ name: jars, files: 'm*/*.java', key: jdk, fallback: [jdk], path: ~/.gradle/caches }]
`;
const BUILD = `set -eu
store=~/.gradle/caches/build-cache-1; mkdir -p "$store"
for module in m*; do
  jar=$store/$(cat "$module"/*.java | sha256sum | cut -d ' ' -f 1).jar
  [ -e "$jar" ] && continue
  rm -rf out; mkdir out; javac -d out "$module"/*.java; jar -c -f "$jar" -C out .
  echo "$module is made"
done
`;
const source = (module: number, index: number, word: string): string =>
  `package m${module};\npublic final class C${index} {\n${Array.from(
    { length: 40 },
    (_, at) =>
      `  public static String f${at}(java.util.List<String> l) { return l.stream().map(s -> s + "${word}${at}").sorted().toList().toString(); }`,
  ).join("\n")}\n}\n`;

const javaProject = (folder: string): Project => {
  const sources = Array.from({ length: MODULES * CLASSES }, (_, at) => {
    const module = Math.floor(at / CLASSES);
    return [`m${module}/C${at % CLASSES}.java`, source(module, at % CLASSES, "first")];
  });
  const git = makeRepository(folder, { ".millrace.yml": JAVA, "build.sh": BUILD });
  commit(git, Object.fromEntries(sources));
  return {
    name: `javac of ${MODULES} modules, as Gradle keeps them`,
    git,
    change: { "m0/C0.java": source(0, 0, "second") },
  };
};

/** Each function creates its repository in a folder. */
export const PROJECTS: ((folder: string) => Project)[] = [npmProject, cProject, javaProject];
