import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { CODECS, packCache, unpackCache } from "../../../src/agent/cache/cache-archive.ts";
import { TAR_END, type TarMember, tarHeader, tarPadding } from "../../../src/agent/files/tar.ts";
import type { StepUser } from "../../../src/agent/process/step-user.ts";
import type { CacheCodec } from "../../../src/protocol/cache.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { isRoot } from "../../support/local/named-user.ts";
import { testFolder } from "../support/folder.ts";
import { unnamedUser } from "../support/step-user.ts";

const { signal } = new AbortController();

/** Creates a checkout, a HOME and an agent's folder. */
const machine = (user: StepUser | null = null) => {
  const folder = testFolder();
  chmodSync(folder, 0o755);
  const [checkout, home, state] = ["checkout", "home", "state"].map((name) => join(folder, name));
  for (const one of [checkout, home, state]) mkdirSync(one!);
  mkdirSync(join(home!, ".ssh"));
  writeFileSync(join(home!, ".ssh/id"), "a secret key");
  const roots = {
    checkout: { root: checkout!, user, signal },
    home: { root: home!, user, signal },
  };
  return { folder, checkout: checkout!, home: home!, file: join(state!, "archive"), roots };
};

const tarOf = (...members: (Partial<TarMember> & { path: string; content?: string })[]): Buffer =>
  Buffer.concat([
    ...members.flatMap(({ content = "", ...member }) => [
      tarHeader({ kind: "file", mode: 0o644, mtime: 1, link: "", size: content.length, ...member }),
      Buffer.from(content),
      Buffer.alloc(tarPadding(content.length)),
    ]),
    TAR_END,
  ]);

/** Creates an archive that an attacker with write access to the store could put there. */
const hostile = (where: "checkout" | "home", tar: Buffer, head?: string): Buffer =>
  gzipSync(
    Buffer.concat([Buffer.from(head ?? `${JSON.stringify({ trees: [{ in: where, bytes: tar.length }] })}\n`), tar]),
  );

describe("a cache archive", () => {
  it.each<CacheCodec>(CODECS)("restores files, modes, times and links with %s", async (codec) => {
    const { checkout, home, file, roots } = machine();
    mkdirSync(join(checkout, "deps/bin"), { recursive: true });
    mkdirSync(join(checkout, "deps/none"));
    mkdirSync(join(home, ".tool/sub"), { recursive: true });
    writeFileSync(join(checkout, "deps/bin/run"), "#!/bin/sh\n", { mode: 0o755 });
    utimesSync(join(checkout, "deps/bin/run"), 1_580_608_922, 1_580_608_922);
    symlinkSync("bin/run", join(checkout, "deps/link"));
    writeFileSync(join(home, ".tool/sub/é"), "x".repeat(300_000));
    writeFileSync(join(checkout, "source"), "not cached");
    const paths = ["deps", "~/.tool"];
    const packed = await packCache(roots, paths, { file, codec });
    expect(packed).toMatchObject({ leftOut: [], archive: { bytes: statSync(file).size } });
    expect(packed.archive?.sha256).toBe(createHash("sha256").update(readFileSync(file)).digest("hex"));
    for (const gone of [join(checkout, "deps"), join(home, ".tool"), join(checkout, "source")])
      rmSync(gone, { recursive: true });
    await unpackCache(roots, paths, { file, codec });
    expect(readFileSync(join(checkout, "deps/link"), "utf8")).toBe("#!/bin/sh\n");
    expect(readlinkSync(join(checkout, "deps/link"))).toBe("bin/run");
    expect(statSync(join(checkout, "deps/bin/run"))).toMatchObject({ mtimeMs: 1_580_608_922_000 });
    expect(statSync(join(checkout, "deps/bin/run")).mode & 0o777).toBe(0o755);
    expect(statSync(join(checkout, "deps/none")).isDirectory()).toBe(true);
    expect(statSync(join(home, ".tool/sub/é")).size).toBe(300_000);
    expect(existsSync(join(checkout, "source"))).toBe(false);
    // Unpacking replaces existing files.
    writeFileSync(join(checkout, "deps/bin/run"), "changed");
    await unpackCache(roots, paths, { file, codec });
    expect(readFileSync(join(checkout, "deps/bin/run"), "utf8")).toBe("#!/bin/sh\n");
  });

  it("contains nothing from a planted link's target", async () => {
    const { folder, checkout, home, file, roots } = machine();
    mkdirSync(join(folder, "outside"));
    writeFileSync(join(folder, "outside/secret"), "CANARY");
    symlinkSync("../outside", join(checkout, "deps"));
    symlinkSync(".ssh", join(home, ".tool"));
    mkdirSync(join(checkout, "more"));
    symlinkSync("/etc/passwd", join(checkout, "more/passwd"));
    writeFileSync(join(checkout, "more/own"), "own");
    const packed = await packCache(roots, ["deps", "more", "~/.tool"], { file, codec: "gzip" });
    expect(packed.leftOut).toEqual([
      "deps is a link to a place outside the cache",
      ".tool is a link to a place outside the cache",
    ]);
    expect(gunzipSync(readFileSync(file)).toString("latin1")).not.toMatch(/CANARY|root:|secret key/);
    rmSync(join(checkout, "more"), { recursive: true });
    rmSync(join(checkout, "deps"));
    await unpackCache(roots, ["deps", "more", "~/.tool"], { file, codec: "gzip" });
    expect(readFileSync(join(checkout, "more/own"), "utf8")).toBe("own");
    expect(existsSync(join(checkout, "deps"))).toBe(false);
    expect(readlinkSync(join(checkout, "more/passwd"))).toBe("/etc/passwd");
  });

  it("restores a link's text, wherever it leads", async () => {
    const { folder, checkout, home, file, roots } = machine();
    const links = {
      [join(checkout, "venv/bin/python")]: join(folder, "python"),
      [join(checkout, "venv/source")]: "../../outside",
      [join(checkout, "venv/none")]: "gone",
      [join(checkout, "venv/twice")]: "bin/../../source",
      [join(home, ".tool/current")]: "../.other/1.2",
      [join(home, ".alias")]: ".tool/sub",
    };
    mkdirSync(join(checkout, "venv/bin"), { recursive: true });
    mkdirSync(join(home, ".tool/sub"), { recursive: true });
    writeFileSync(join(folder, "python"), "runs");
    for (const [path, text] of Object.entries(links)) symlinkSync(text, path);
    const paths = ["venv", "~/.tool", "~/.alias"];
    expect(await packCache(roots, paths, { file, codec: "gzip" })).toMatchObject({ leftOut: [] });
    rmSync(join(checkout, "venv"), { recursive: true });
    for (const name of [".tool", ".alias"]) rmSync(join(home, name), { recursive: true });
    for (const _ of ["into empty folders", "over existing links"]) {
      await unpackCache(roots, paths, { file, codec: "gzip" });
      for (const [path, text] of Object.entries(links)) expect(readlinkSync(path)).toBe(text);
    }
    expect(readFileSync(join(checkout, "venv/bin/python"), "utf8")).toBe("runs");
  });

  it("restores over read-only folders, and leaves them read-only", async () => {
    const user = isRoot ? unnamedUser() : null;
    const { folder, home, file, roots } = machine(user);
    const modules = join(home, "go/mod");
    mkdirSync(join(modules, "x@v1/sub"), { recursive: true });
    for (const name of ["go.mod", "sub/a.go"]) writeFileSync(join(modules, "x@v1", name), "module", { mode: 0o444 });
    symlinkSync("sub", join(modules, "x@v1/link"));
    if (user) execFileSync("chown", ["-R", `${user.uid}:${user.gid}`, folder]);
    const packed = await packCache(roots, ["~/go/mod"], { file, codec: "gzip" });
    expect(packed).toMatchObject({ leftOut: [] });
    // Some files exist. Unpacking creates the others in read-only folders.
    writeFileSync(join(modules, "x@v1/sub/a.go"), "other!");
    rmSync(join(modules, "x@v1/go.mod"));
    const closed = ["x@v1/sub", "x@v1", "."].map((name) => join(modules, name));
    for (const path of closed) chmodSync(path, 0o555);
    onTestFinished(() => closed.reverse().forEach((path) => void chmodSync(path, 0o755)));
    await unpackCache(roots, ["~/go/mod"], { file, codec: "gzip" });
    for (const name of ["go.mod", "sub/a.go"]) {
      expect(readFileSync(join(modules, "x@v1", name), "utf8")).toBe("module");
      expect(statSync(join(modules, "x@v1", name)).mode & 0o777).toBe(0o444);
    }
    for (const path of closed) expect(statSync(path).mode & 0o777).toBe(0o555);
    // An archive that fails halfway also leaves the folders read-only.
    const bad = tarOf({ path: "go/mod/new", content: "1" }, { path: ".ssh/x", content: "2" });
    writeFileSync(file, hostile("home", bad));
    await expect(unpackCache(roots, ["~/go/mod"], { file, codec: "gzip" })).rejects.toThrow("is not part of the cache");
    expect(readFileSync(join(modules, "new"), "utf8")).toBe("1");
    for (const path of closed) expect(statSync(path).mode & 0o777).toBe(0o555);
  });

  it.runIf(isRoot)("opens no folder that belongs to another user", async () => {
    const user = unnamedUser();
    const { home, file, roots } = machine(user);
    mkdirSync(join(home, "go"));
    writeFileSync(file, hostile("home", tarOf({ path: "go/new", content: "1" })));
    await expect(unpackCache(roots, ["~/go"], { file, codec: "gzip" })).rejects.toThrow("go/new: EACCES");
    expect(statSync(join(home, "go")).mode & 0o777).toBe(0o755);
  });

  it.each<[string, "checkout" | "home", Buffer, RegExp]>([
    [
      "a person's SSH key",
      "home",
      tarOf({ path: ".ssh/authorized_keys", content: "evil" }),
      /is not part of the cache/,
    ],
    [
      "a file beside the cache",
      "checkout",
      tarOf({ path: ".millrace.yml", content: "evil" }),
      /is not part of the cache/,
    ],
    ["a git hook", "checkout", tarOf({ path: ".git/hooks/x", content: "evil" }), /is not part of the cache/],
    ["an upward path", "checkout", tarOf({ path: "../evil", content: "evil" }), /in a tar/],
    ["an upward path inside the cache", "checkout", tarOf({ path: "deps/../../evil", content: "evil" }), /in a tar/],
    ["an absolute path", "checkout", tarOf({ path: "/tmp/evil-of-cache", content: "evil" }), /in a tar/],
    [
      "an outside link in its own place",
      "checkout",
      tarOf({ path: "deps", kind: "link", link: "../outside" }),
      /link to a place outside/,
    ],
    [
      "a link to keys in its own place",
      "home",
      tarOf({ path: ".tool", kind: "link", link: ".ssh" }),
      /link to a place outside/,
    ],
    [
      "a link beside the cache",
      "home",
      tarOf({ path: ".ssh/l", kind: "link", link: "/etc" }),
      /is not part of the cache/,
    ],
    ["a link without a target", "home", tarOf({ path: ".tool/l", kind: "link", link: "" }), /link to a place outside/],
  ])("is rejected with %s, and writes nothing outside", async (_, where, tar, problem) => {
    const { folder, home, checkout, file, roots } = machine();
    writeFileSync(file, hostile(where, tar));
    await expect(unpackCache(roots, ["deps", "~/.tool"], { file, codec: "gzip" })).rejects.toThrow(problem);
    for (const evil of ["evil", "outside"]) expect(existsSync(join(folder, evil))).toBe(false);
    expect(existsSync(join(home, ".ssh/authorized_keys"))).toBe(false);
    expect(existsSync(join(checkout, ".millrace.yml"))).toBe(false);
    expect(existsSync("/tmp/evil-of-cache")).toBe(false);
  });

  it.each(["file", "folder", "link"] as const)("creates no %s behind its own link", async (kind) => {
    const link = { path: ".tool/l", kind: "link", link: "../.ssh" } as const;
    const through = {
      path: ".tool/l/authorized_keys",
      kind,
      ...(kind === "file" ? { content: "evil" } : { link: "x" }),
    };
    for (const tars of [[tarOf(link, through)], [tarOf(link), tarOf(through)]]) {
      const { home, file, roots } = machine();
      const unpackAll = async () => {
        for (const tar of tars) {
          writeFileSync(file, hostile("home", tar));
          await unpackCache(roots, ["~/.tool"], { file, codec: "gzip" });
        }
      };
      await expect(unpackAll()).rejects.toThrow(/through a (file or a )?link|already exists/);
      expect(readdirSync(join(home, ".ssh"))).toEqual(["id"]);
      // Anyone who follows the link writes outside.
      if (tars.length === 2) writeFileSync(join(home, through.path), "evil");
      expect(existsSync(join(home, ".ssh/authorized_keys"))).toBe(tars.length === 2);
    }
  });

  it("writes through no link, on the disk or in the archive", async () => {
    const { home, file, roots } = machine();
    mkdirSync(join(home, ".tool"));
    symlinkSync("../.ssh", join(home, ".tool/l"));
    writeFileSync(file, hostile("home", tarOf({ path: ".tool/l/authorized_keys", content: "evil" })));
    await expect(unpackCache(roots, ["~/.tool"], { file, codec: "gzip" })).rejects.toThrow(
      /link on the way|a file or a link/,
    );
    rmSync(join(home, ".tool"), { recursive: true });
    symlinkSync(".ssh", join(home, ".tool"));
    writeFileSync(file, hostile("home", tarOf({ path: ".tool/authorized_keys", content: "evil" })));
    await expect(unpackCache(roots, ["~/.tool"], { file, codec: "gzip" })).rejects.toThrow(/link/);
    expect(existsSync(join(home, ".ssh/authorized_keys"))).toBe(false);
    expect(lstatSync(join(home, ".tool")).isSymbolicLink()).toBe(true);
  });

  it("does not fill the disk", async () => {
    const { checkout, file, roots } = machine();
    const unpack = () => unpackCache(roots, ["deps"], { file, codec: "gzip" });
    const head = (bytes: number) => `${JSON.stringify({ trees: [{ in: "checkout", bytes }] })}\n`;
    writeFileSync(file, hostile("checkout", TAR_END, head(LIMITS.cacheUnpackedBytes + 1)));
    await expect(unpack()).rejects.toThrow("too large when unpacked");
    // The small file would unpack to 200 MB. The agent reads only the declared size.
    const bomb = Buffer.concat([
      tarHeader({ kind: "file", path: "deps/big", mode: 0o644, mtime: 1, link: "", size: 200_000_000 }),
      Buffer.alloc(200_000_000),
    ]);
    writeFileSync(file, hostile("checkout", bomb, head(5000)));
    await expect(unpack()).rejects.toThrow("is cut off");
    expect(statSync(join(checkout, "deps/big")).size).toBeLessThanOrEqual(5000);
  });

  it.each([
    ["no bytes", Buffer.alloc(0)],
    ["bytes other than gzip", Buffer.from("nonsense")],
    ["a cut-off end", hostile("checkout", tarOf({ path: "deps/a", content: "x".repeat(9999) })).subarray(0, 60)],
    ["no header line", gzipSync(Buffer.alloc(100_000))],
    ["an invalid header line", gzipSync(Buffer.from('{"trees":[{"in":"etc","bytes":1}]}\n'))],
    ["a negative size", gzipSync(Buffer.from('{"trees":[{"in":"home","bytes":-1}]}\n'))],
  ])("is rejected with %s, with a clear message", async (_, bytes) => {
    const { file, roots } = machine();
    writeFileSync(file, bytes);
    await expect(unpackCache(roots, ["deps"], { file, codec: "gzip" })).rejects.toThrow(/^(?:it |its )/);
  });
});
