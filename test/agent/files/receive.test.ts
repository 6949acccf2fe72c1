import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TAR_END, type TarMember, tarHeader, tarPadding } from "../../../src/agent/files/tar.ts";
import { isRoot } from "../../support/local/named-user.ts";
import { testFolder } from "../support/folder.ts";
import { attackAs, canAttack, unnamedUser } from "../support/step-user.ts";
import { receive } from "./support/collected.ts";

const workspace = () => {
  const folder = testFolder();
  chmodSync(folder, 0o755);
  const root = join(folder, "workspace");
  mkdirSync(root);
  mkdirSync(join(folder, "outside"));
  return { root, outside: join(folder, "outside") };
};

const tarOf = (...members: (Partial<TarMember> & { path: string; content?: string })[]): Buffer =>
  Buffer.concat([
    ...members.flatMap(({ content = "", ...member }) => [
      tarHeader({ kind: "file", mode: 0o644, mtime: 0, link: "", size: content.length, ...member }),
      Buffer.from(content),
      Buffer.alloc(tarPadding(content.length)),
    ]),
    TAR_END,
  ]);

/** Returns a tar that only a hostile Python program would write. */
const hostileTar = (program: string): Buffer =>
  execFileSync("python3", [
    "-c",
    `import io, sys, tarfile\nt = tarfile.open(fileobj=sys.stdout.buffer, mode="w|")\n${program}\nt.close()`,
  ]);

const unpack = (root: string, content: Buffer) => receive(root, ["in"], [{ path: "a.tar", content, isUnpacked: true }]);

describe("received files", () => {
  it("are created in a folder of the checkout, each with one of two modes", async () => {
    const { root } = workspace();
    const big = "y".repeat(2_000_000);
    await receive(
      root,
      ["in", "deep"],
      [
        { path: "sub/run", content: "#!", mode: "755" },
        { path: "empty", content: "" },
        { path: "sub/big", content: big },
      ],
    );
    const at = (path: string) => join(root, "in/deep", path);
    expect([readFileSync(at("sub/run"), "utf8"), readFileSync(at("sub/big"), "utf8")]).toEqual(["#!", big]);
    expect([at("sub/run"), at("empty")].map((path) => statSync(path).mode & 0o7777)).toEqual([0o755, 0o644]);
  });

  it.each(["../x", "/tmp/x", "a/../../x", "a//x", "./x", "a\\x", "", "C:x", "a\0b"])(
    "are rejected under the name %j",
    async (path) => {
      const { root, outside } = workspace();
      await expect(receive(root, ["in"], [{ path, content: "1" }])).rejects.toThrow();
      expect(existsSync(join(root, "x")) || existsSync(join(outside, "../x"))).toBe(false);
    },
  );

  it("overwrite nothing, and follow no link from the commit", async () => {
    const { root, outside } = workspace();
    writeFileSync(join(root, "there"), "old");
    symlinkSync(outside, join(root, "out"));
    symlinkSync(join(outside, "new"), join(root, "dangling"));
    const to = (folder: string[], path: string) => receive(root, folder, [{ path, content: "1" }]);
    await expect(to([], "there")).rejects.toThrow("a file or folder with this name already exists");
    await expect(to([], "dangling")).rejects.toThrow("a file or folder with this name already exists");
    await expect(to(["out"], "x")).rejects.toThrow("through a");
    await expect(to(["out", "sub"], "x")).rejects.toThrow("through a");
    await expect(to([], "out/x")).rejects.toThrow("through a");
    await expect(to([], "there/x")).rejects.toThrow("through a file or a link");
    expect(readFileSync(join(root, "there"), "utf8")).toBe("old");
    expect([
      existsSync(join(outside, "x")),
      existsSync(join(outside, "new")),
      existsSync(join(outside, "sub")),
    ]).toEqual([false, false, false]);
    // Anyone who opens the path writes outside.
    writeFileSync(join(root, "out/x"), "1");
    expect(existsSync(join(outside, "x"))).toBe(true);
  });

  it("replace an earlier run's files if allowed, but never a link's target there", async () => {
    const { root, outside } = workspace();
    writeFileSync(join(outside, "kept"), "kept");
    writeFileSync(join(root, "there"), "old");
    symlinkSync(join(outside, "kept"), join(root, "link"));
    await receive(
      root,
      [],
      [
        { path: "there", content: "new" },
        { path: "link", content: "new" },
      ],
      { replaces: true },
    );
    expect(["there", "link"].map((name) => readFileSync(join(root, name), "utf8"))).toEqual(["new", "new"]);
    expect(readFileSync(join(outside, "kept"), "utf8")).toBe("kept");
  });

  it("never go into git's folder", async () => {
    const { root } = workspace();
    mkdirSync(join(root, ".git/hooks"), { recursive: true });
    for (const name of [".git", ".GIT", ".g\u200cit", ".git.", ".git::$INDEX_ALLOCATION"])
      await expect(receive(root, [], [{ path: `${name}/hooks/post-checkout`, content: "evil" }])).rejects.toThrow(
        ".git",
      );
    await expect(receive(root, [], [{ path: ".GIT/hooks/post-checkout", content: "evil" }])).rejects.toThrow();
  });
});

describe("a received tar", () => {
  it("restores its files, folders, links and modes", async () => {
    const { root } = workspace();
    const long = `${"d".repeat(90)}/${"e".repeat(90)}/file`;
    const tar = tarOf(
      { path: "V", kind: "folder", mode: 0o755 },
      { path: "V/A/run", content: "x".repeat(513), mode: 0o750 },
      { path: "V/Current", kind: "link", link: "A" },
      { path: "up", kind: "link", link: "V/./Current/run" },
      { path: "V/A/back", kind: "link", link: "../../up" },
      { path: long, content: "" },
      { path: "readonly", content: "r", mode: 0o444 },
    );
    await unpack(root, tar);
    const at = (path: string) => join(root, "in", path);
    expect(readFileSync(at("V/A/back"), "utf8")).toBe("x".repeat(513));
    expect(readlinkSync(at("V/Current"))).toBe("A");
    expect(statSync(at("V/A/run")).mode & 0o777).toBe(0o750);
    expect(statSync(at("readonly")).mode & 0o777).toBe(0o444);
    expect(statSync(at(long)).size).toBe(0);
  });

  const entry = (rest: string) => `i = tarfile.TarInfo("x")\n${rest}\nt.addfile(i)`;
  const hostile: [string, Buffer][] = [
    ["a link to an absolute path", tarOf({ path: "x", kind: "link", link: "/etc" })],
    ["a link that leads up and out", tarOf({ path: "a/x", kind: "link", link: "../../y" })],
    [
      "a link that leads up after another part",
      tarOf({ path: "p/q/r", kind: "link", link: "../../s" }, { path: "z", kind: "link", link: "p/q/r/../.." }),
    ],
    ["a file through a link", tarOf({ path: "x", kind: "link", link: "." }, { path: "x/y", content: "1" })],
    ["a file in place of another", tarOf({ path: "x", content: "1" }, { path: "x", content: "2" })],
    ["an upward path", tarOf({ path: "../x", content: "1" })],
    ["an absolute path", tarOf({ path: "/tmp/millrace-x", content: "1" })],
    ["a hard link", hostileTar(entry('i.type = tarfile.LNKTYPE; i.linkname = "/etc/passwd"'))],
    ["a device", hostileTar(entry("i.type = tarfile.CHRTYPE; i.devmajor = 1; i.devminor = 5"))],
    ["a pipe", hostileTar(entry("i.type = tarfile.FIFOTYPE"))],
    ["a sparse file", hostileTar(entry("i.type = tarfile.GNUTYPE_SPARSE"))],
    ["global settings", hostileTar(`t.pax_headers = {"path": "/etc/x"}\n${entry("i.type = tarfile.XGLTYPE")}`)],
    [
      "a wrong checksum",
      (() => {
        const tar = tarOf({ path: "x", content: "1" });
        tar[0] = 0x79;
        return tar;
      })(),
    ],
    ["no end", tarOf({ path: "x", content: "1" }).subarray(0, 1024)],
    ["an incomplete file", tarOf({ path: "x", content: "1".repeat(600) }).subarray(0, 1024)],
    [
      "an invalid size",
      (() => {
        const tar = tarOf({ path: "x", content: "1" });
        tar.write("-1", 124);
        return tar;
      })(),
    ],
  ];
  it.each(hostile)("is rejected with %s", async (_, tar) => {
    const { root, outside } = workspace();
    await expect(unpack(root, tar)).rejects.toThrow();
    for (const path of [join(root, "x"), join(root, "in/y"), join(outside, "y"), "/tmp/millrace-x"])
      expect(existsSync(path)).toBe(false);
  });

  it("leaves no outside link, even where the system's tar trusts the archive", async () => {
    const { root } = workspace();
    const tar = tarOf({ path: "x", kind: "link", link: "/etc" });
    await expect(unpack(root, tar)).rejects.toThrow("link to a place outside its folder");
    expect(lstatSync(join(root, "in/x"), { throwIfNoEntry: false })).toBeUndefined();
    execFileSync("tar", ["-xf", "-", "-C", root], { input: tar });
    expect(readlinkSync(join(root, "x"))).toBe("/etc");
  });
});

/** Replaces each folder or file with a link, as soon as it sees one and before it is filled. */
const RACE = `
import os, sys
root, outside = sys.argv[1:3]
print("begun", flush=True)
while True:
    for name in ("in", "in/sub"):
        try:
            os.rename(os.path.join(root, name), os.path.join(root, "moved-%d" % os.getpid()))
            os.symlink(outside, os.path.join(root, name))
        except OSError:
            pass
        try:
            os.unlink(os.path.join(root, name))
        except OSError:
            pass
`;

describe.runIf(isRoot)("receiving files with --run-as", () => {
  it("gives the files to the steps' user, who can write there", async () => {
    const user = unnamedUser();
    const { root } = workspace();
    await expect(receive(root, ["in"], [{ path: "x", content: "1" }], { user })).rejects.toThrow("EACCES");
    execFileSync("chown", [`${user.uid}`, root]);
    await receive(root, ["in"], [{ path: "sub/x", content: "1" }], { user });
    for (const path of ["in", "in/sub", "in/sub/x"]) expect(statSync(join(root, path)).uid).toBe(user.uid);
  });
});

describe.runIf(canAttack)("a process that puts links in the way while files are created", () => {
  it("gets none of them outside", async () => {
    const user = unnamedUser();
    const { root, outside } = workspace();
    chmodSync(outside, 0o777);
    execFileSync("chown", [`${user.uid}`, root]);
    const attack = attackAs(user, RACE, [root, outside]);
    await new Promise((resolve) => attack.stdout?.once("data", resolve));
    const files = Array.from({ length: 400 }, (_, index) => ({ path: `sub/${index}/file`, content: "1" }));
    for (let round = 0; round < 4; round++) await receive(root, ["in"], files, { user }).catch(() => {});
    expect(execFileSync("find", [outside, "-mindepth", "1"]).toString()).toBe("");
  });
});
