import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { MOST_VISITED } from "../../../src/agent/files/find-files.ts";
import type { StepUser } from "../../../src/agent/process/step-user.ts";
import { isRoot } from "../../support/local/named-user.ts";
import { testFolder } from "../support/folder.ts";
import { attackAs, canAttack, unnamedUser } from "../support/step-user.ts";
import { collect, collectAfter } from "./support/collected.ts";

/** Creates a checkout with these files, and a secret outside it. */
const checkout = (files: Record<string, string>, user: StepUser | null = null) => {
  const folder = testFolder();
  chmodSync(folder, 0o755);
  const root = join(folder, "workspace");
  mkdirSync(root);
  mkdirSync(join(folder, "outside"));
  writeFileSync(join(folder, "outside/secret"), "SECRET");
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  if (user) execFileSync("chown", ["-R", `${user.uid}:${user.gid}`, root]);
  return { root, outside: join(folder, "outside") };
};

describe("collected files", () => {
  it("are named by their path below the pattern's fixed part", async () => {
    const { root } = checkout({ "a/b/c.txt": "1", "a/b/d/e.txt": "2", "a/x.log": "3", "z.txt": "4" });
    const namesBy = async (...paths: string[]) => Object.keys((await collect(root, paths)).files);
    expect(await namesBy("a/**/*.txt")).toEqual(["b/c.txt", "b/d/e.txt"]);
    expect(await namesBy("a/b/*.txt")).toEqual(["c.txt"]);
    expect(await namesBy("a/")).toEqual(["b/c.txt", "b/d/e.txt", "x.log"]);
    expect(await namesBy("a/b")).toEqual(["c.txt", "d/e.txt"]);
    expect(await namesBy("./a/b/c.txt")).toEqual(["c.txt"]);
    expect(await namesBy("**", "!a/b/d/", "!**/*.log")).toEqual(["a/b/c.txt", "z.txt"]);
    expect(await namesBy(".")).toEqual(["a/b/c.txt", "a/b/d/e.txt", "a/x.log", "z.txt"]);
    expect(await namesBy("nothing/**", "a/y")).toEqual([]);
  });

  it("have their bytes, and one of two modes", async () => {
    const big = "x".repeat(3_000_000);
    const { root } = checkout({ "out/run": "#!", "out/big": big, "out/empty": "" });
    chmodSync(join(root, "out/run"), 0o4711);
    chmodSync(join(root, "out/big"), 0o600);
    const { files, modes } = await collect(root, ["out/"]);
    expect(files).toEqual({ run: "#!", big, empty: "" });
    expect(modes).toEqual({ run: "755", big: "644", empty: "644" });
  });

  it("never include git's files", async () => {
    const { root } = checkout({ ".git/config": "token", "sub/.git/x": "1", a: "2" });
    symlinkSync(".git", join(root, "git"));
    expect(Object.keys((await collect(root, ["**"])).files)).toEqual(["a", "sub/.git/x"]);
    await expect(collect(root, [".git/config"])).rejects.toThrow(".git");
  });

  it("become one tar for a folder that is only useful as a whole", async () => {
    const { root } = checkout({ "out/Mill.app/Versions/A/mill": "code", "out/notes.txt": "n", "out/x.dSYM/y": "z" });
    symlinkSync("A", join(root, "out/Mill.app/Versions/Current"));
    expect(Object.keys((await collect(root, ["out/"])).files)).toEqual(["Mill.app.tar", "notes.txt", "x.dSYM.tar"]);
    expect(Object.keys((await collect(root, ["out/*.app"])).files)).toEqual(["Mill.app.tar"]);
    expect(Object.keys((await collect(root, ["out/Mill.app"])).files)).toEqual(["Mill.app.tar"]);
    expect(Object.keys((await collect(root, ["out/Mill.app/"])).files)).toEqual(["Mill.app.tar"]);
    // A file that a pattern matches inside a bundle stays a file.
    expect(Object.keys((await collect(root, ["out/**/mill"])).files)).toEqual(
      ["A", "Current"].map((version) => `Mill.app/Versions/${version}/mill`),
    );
    const { files } = await collect(root, ["out/Mill.app"]);
    const list = execFileSync("tar", ["-tvf", "-"], { input: Buffer.from(files["Mill.app.tar"] ?? "", "latin1") });
    expect(list.toString()).toMatch(/Mill\.app\/Versions\/Current -> A/);
  });
});

describe("a link", () => {
  it("inside the checkout is stored as its target", async () => {
    const { root } = checkout({ "real/a": "A", "real/sub/b": "B" });
    symlinkSync("real", join(root, "dist"));
    symlinkSync(join(root, "real/a"), join(root, "one"));
    expect((await collect(root, ["dist/"])).files).toEqual({ a: "A", "sub/b": "B" });
    expect((await collect(root, ["one"])).files).toEqual({ one: "A" });
  });

  it("in a loop ends", async () => {
    const { root } = checkout({ "a/x": "1" });
    symlinkSync("..", join(root, "a/up"));
    symlinkSync("self", join(root, "a/self"));
    const { files } = await collect(root, ["a/"]);
    expect(files).toMatchObject({ x: "1" });
  });

  it.each([
    ["to a file", "secret"],
    ["to a folder", "."],
  ])("out of the checkout %s is left out and reported", async (_, to) => {
    const { root, outside } = checkout({ "out/a": "1" });
    symlinkSync(join(outside, to), join(root, "out/absolute"));
    symlinkSync(join("../../outside", to), join(root, "out/relative"));
    symlinkSync("absolute", join(root, "out/twice"));
    const { files, leftOut } = await collect(root, ["out/"]);
    expect(files).toEqual({ a: "1" });
    expect(leftOut).toEqual(
      ["absolute", "relative", "twice"].map(
        (name) => `out/${name} is a link to a place outside the checkout, or a broken link`,
      ),
    );
    // The link is the path itself, or a folder within the path.
    expect((await collect(root, ["out/absolute"])).files).toEqual({});
    expect((await collect(root, ["out/absolute/secret", "out/absolute/**"])).files).toEqual({});
    // Anyone who follows the links reads the secret.
    expect(readFileSync(join(root, "out/twice", to === "." ? "secret" : ""), "utf8")).toBe("SECRET");
  });

  it("in place of the checkout's own folder does not lead outside either", async () => {
    const { root, outside } = checkout({});
    symlinkSync(outside, join(root, "out"));
    expect(await collect(root, ["out/**"])).toMatchObject({
      files: {},
      leftOut: [expect.stringContaining("out is a link")],
    });
  });
});

describe("a socket or pipe", () => {
  it("is left out, and nothing waits for it", async () => {
    const { root } = checkout({ "out/a": "1" });
    execFileSync("/bin/sh", ["-c", 'mkfifo "$1"', "sh", join(root, "out/pipe")]);
    const server = createServer().listen(join(root, "out/socket"));
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    if (isRoot) execFileSync("mknod", [join(root, "out/zero"), "c", "1", "5"]);
    symlinkSync("pipe", join(root, "out/to-pipe"));
    const { files, leftOut } = await collect(root, ["out/"]);
    expect(files).toEqual({ a: "1" });
    expect(leftOut.map((line) => line.replace(/ .*/, ""))).toEqual(
      ["out/pipe", "out/socket", "out/to-pipe", ...(isRoot ? ["out/zero"] : [])].sort(),
    );
  });
});

describe("a file name", () => {
  it.each([
    ["of 1,025 bytes", `${"d".repeat(200)}/`.repeat(5) + "f".repeat(20), "1,024 bytes"],
    ["with a backslash", "a\\b", "backslash"],
    ["with a line break", "a\nb", "control character"],
    ["that begins with a drive letter", "C:x", "drive"],
  ])("%s is rejected", async (_, name, why) => {
    const { root } = checkout({ [`out/${name}`]: "1" });
    await expect(collect(root, ["out/"])).rejects.toThrow(why);
  });

  it("of 1,024 bytes is accepted", async () => {
    const name = `${"d".repeat(200)}/`.repeat(5) + "f".repeat(19);
    const { root } = checkout({ [`out/${name}`]: "1" });
    expect((await collect(root, ["out/"])).files).toEqual({ [name]: "1" });
  });

  it("that is not UTF-8 is rejected", async () => {
    const { root } = checkout({ "out/a": "1" });
    writeFileSync(Buffer.concat([Buffer.from(join(root, "out/")), Buffer.from([0x61, 0xff])]), "1");
    await expect(collect(root, ["out/"])).rejects.toThrow("not UTF-8");
  });

  it("counts towards a maximum number of names", async () => {
    const { root } = checkout(Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`out/${index}`, ""])));
    await expect(collect(root, ["out/"], { atMost: 11 })).rejects.toThrow("more than 11 files");
    expect(Object.keys((await collect(root, ["out/"], { atMost: 12 })).files)).toHaveLength(12);
    expect(MOST_VISITED).toBe(200_000);
  });
});

describe("a path that a pattern only passes", () => {
  /** A user other than root, as for most agents. */
  const user = isRoot ? unnamedUser() : null;
  const notUtf8 = (root: string, folder: string): Buffer =>
    Buffer.concat([Buffer.from(join(root, folder, "a")), Buffer.from([0xff])]);

  it.each([
    ["that nobody can enter", 0o000],
    ["with readable names only", 0o444],
  ])("is left out and reported: a folder %s", async (_, mode) => {
    const { root } = checkout({ "stuff/app/run.log": "1", "stuff/data/x.log": "2", "stuff/data/y": "3" }, user);
    chmodSync(join(root, "stuff/data"), mode);
    onTestFinished(() => chmodSync(join(root, "stuff/data"), 0o755));
    const collecting = (...paths: string[]) => collect(root, paths, { user });
    const told = { files: { "app/run.log": "1" }, leftOut: ["stuff/data cannot be read (EACCES)"] };
    expect(await collecting("stuff/**/*.log")).toMatchObject(told);
    expect(await collecting("stuff/", "!stuff/data/")).toMatchObject(told);
    // A requested file that cannot be read is an error.
    for (const path of ["stuff/", "stuff/data", "stuff/data/*.log", "stuff/data/x.log"])
      await expect(collecting("stuff/app/", path)).rejects.toThrow(/stuff\/data(\/x.log)? cannot be read \(EACCES\)/);
    const lenient = await collect(root, ["stuff/"], { user, isLenient: true });
    expect(lenient).toMatchObject(told);
  });

  it("is left out and reported: a name that is not UTF-8", async () => {
    const { root } = checkout({ "out/a.log": "1", "deep/sub/x": "2" });
    writeFileSync(notUtf8(root, "out"), "1");
    mkdirSync(notUtf8(root, "deep"));
    const { files, leftOut } = await collect(root, ["**/*.log"]);
    expect(files).toEqual({ "out/a.log": "1" });
    expect(leftOut).toEqual(["deep/a\u00ff has a name that is not UTF-8", "out/a\u00ff has a name that is not UTF-8"]);
  });

  it("is left out and reported: a folder that is nested too deeply", async () => {
    const { root } = checkout({ "a.log": "1" });
    const part = "d".repeat(250);
    execFileSync("python3", [
      "-c",
      "import os, sys\nos.chdir(sys.argv[1])\nfor i in range(20):\n os.mkdir(sys.argv[2])\n os.chdir(sys.argv[2])",
      ...[root, part],
    ]);
    const { files, leftOut } = await collect(root, ["**/*.log"]);
    expect(files).toEqual({ "a.log": "1" });
    expect(leftOut).toEqual([expect.stringMatching(/^d{250}\/.* is nested too deeply$/)]);
  });
});

const replace = (path: string, make: () => void): void => {
  renameSync(path, `${path}.old`);
  make();
};

describe("a file that changes after it was found", () => {
  const cases: [string, (path: string) => void][] = [
    ["grows", (path) => appendFileSync(path, "more")],
    ["shrinks", (path) => truncateSync(path, 1)],
    ["is replaced", (path) => replace(path, () => writeFileSync(path, "12345"))],
    ["becomes a link out", (path) => replace(path, () => symlinkSync("/etc/passwd", path))],
    ["is gone", (path) => renameSync(path, `${path}.old`)],
  ];
  it.each(cases)("%s and is not stored", async (_, change) => {
    const { root } = checkout({ "out/a": "12345", "out/z": "2" });
    const collecting = collectAfter(root, ["out/"], () => change(join(root, "out/a")));
    await expect(collecting).rejects.toThrow(/out\/a (changed while it was being read|cannot be read)/);
  });

  it.each(cases)("%s and does not affect the others if they are useful alone", async (_, change) => {
    const { root } = checkout({ "out/a": "12345", "out/z": "2" });
    const { files } = await collectAfter(root, ["out/"], () => change(join(root, "out/a")), { isLenient: true });
    expect(files).toMatchObject({ a: expect.stringMatching(/^.{5}$/s), z: "2" });
  });

  it("and whose folder becomes an outside link is not read there", async () => {
    const { root, outside } = checkout({ "out/secret": "mine!!" });
    const collecting = collectAfter(root, ["out/"], () => {
      renameSync(join(root, "out"), join(root, "old"));
      symlinkSync(outside, join(root, "out"));
    });
    await expect(collecting).rejects.toThrow("out/secret cannot be read");
  });

  it("keeps its length if it has holes", async () => {
    const { root } = checkout({ "out/holes": "" });
    truncateSync(join(root, "out/holes"), 5_000_000);
    expect((await collect(root, ["out/"])).files.holes).toBe("\0".repeat(5_000_000));
  });
});

describe.runIf(isRoot)("collecting files with --run-as", () => {
  it("reads only with the rights of the steps' user", async () => {
    const user = unnamedUser();
    const { root, outside } = checkout({ "out/mine": "1" }, user);
    chmodSync(join(outside, "secret"), 0o600);
    writeFileSync(join(root, "out/root-only"), "SECRET", { mode: 0o600 });
    await expect(collect(root, ["out/"], { user })).rejects.toThrow("out/root-only cannot be read (EACCES)");
    expect((await collect(root, ["out/mine"], { user })).files).toEqual({ mine: "1" });
    // The same call without the user reads the file.
    expect((await collect(root, ["out/"])).files).toEqual({ mine: "1", "root-only": "SECRET" });
  });

  it("reads no file of root by another name", async () => {
    const user = unnamedUser();
    const { root, outside } = checkout({ "out/mine": "1" }, user);
    chmodSync(join(outside, "secret"), 0o600);
    linkSync(join(outside, "secret"), join(root, "out/hard"));
    await expect(collect(root, ["out/"], { user })).rejects.toThrow("out/hard cannot be read (EACCES)");
  });
});

/** Replaces a folder with a link to a place outside, and back, as fast as it can. */
const SWAP = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
a, b = (path.encode() for path in sys.argv[1:3])
print("begun", flush=True)
while True:
    if libc.renameat2(-100, a, -100, b, 2) != 0:
        sys.exit(1)
`;

describe.runIf(canAttack)("a step that swaps a folder for an outside link while the agent reads", () => {
  it("gets no outside files, unlike with a reader that follows paths", async () => {
    const user = unnamedUser();
    const names = Array.from({ length: 500 }, (_, index) => String(index));
    const { root, outside } = checkout(Object.fromEntries(names.map((name) => [`out/in/${name}`, "INSIDE"])), user);
    for (const name of names) writeFileSync(join(outside, name), "SECRET", { mode: 0o644 });
    symlinkSync(outside, join(root, "out/link"));
    chownSync(join(root, "out"), user.uid, user.gid);
    const attack = attackAs(user, SWAP, [join(root, "out/in"), join(root, "out/link")]);
    await new Promise((resolve) => attack.stdout?.once("data", resolve));
    const seen = new Set<string>();
    const naive = new Set<string>();
    // On a busy machine the attacker may start late. It has struck when the naive reader has seen both.
    for (let round = 0; round < 3 || naive.size < 2; round++) {
      for (const name of names) naive.add(readFileSync(join(root, "out/in", name), "utf8"));
      const { files } = await collect(root, ["out/in/**", "out/link/**"], { user }).catch(() => ({ files: {} }));
      for (const content of Object.values(files)) seen.add(content);
    }
    expect([...naive].sort()).toEqual(["INSIDE", "SECRET"]);
    expect([...seen].filter((content) => content !== "INSIDE")).toEqual([]);
  });
});
