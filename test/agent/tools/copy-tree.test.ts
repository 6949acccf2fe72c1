import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chownTree } from "../../../src/agent/process/step-user.ts";
import { copyTree, RefusedTree } from "../../../src/agent/tools/copy-tree.ts";
import { isRoot } from "../../support/local/named-user.ts";
import { testFolder } from "../support/folder.ts";
import { attackAs, canAttack, unnamedUser } from "../support/step-user.ts";

const OWN = process.getuid?.() ?? 0;

const tree = (): { from: string; to: string; copy: (owner?: number, bytes?: number) => Promise<number> } => {
  const folder = testFolder();
  chmodSync(folder, 0o755);
  const [from, to] = [join(folder, "from"), join(folder, "to")];
  mkdirSync(join(from, "bin"), { recursive: true });
  writeFileSync(join(from, "bin/tool"), "tool", { mode: 0o755 });
  const copy = (owner = OWN, bytes = 1e6) => copyTree(from, to, { owner, root: from, bytes, without: ["shims"] });
  return { from, to, copy };
};

describe("a copy of installed tools", () => {
  it("has the files with their executable bits, inside links, and nothing that was left out", async () => {
    const { from, to, copy } = tree();
    writeFileSync(join(from, "notes"), "notes", { mode: 0o600 });
    symlinkSync("bin/tool", join(from, "tool"));
    symlinkSync(join(from, "bin"), join(from, "programs"));
    mkdirSync(join(from, "shims"));
    symlinkSync("/etc", join(from, "shims/etc"));
    expect(await copy()).toBe("toolnotes".length);
    expect(lstatSync(join(to, "bin/tool")).mode & 0o7777).toBe(0o755);
    expect(lstatSync(join(to, "notes")).mode & 0o7777).toBe(0o644);
    expect(readlinkSync(join(to, "tool"))).toBe("bin/tool");
    expect(readlinkSync(join(to, "programs"))).toBe(join(from, "bin"));
    expect(existsSync(join(to, "shims"))).toBe(false);
  });

  it.each([
    ["/etc/passwd", "an absolute link"],
    ["../../outside", "a link upwards"],
    ["bin/../../../outside", "a link that goes in first"],
  ])("is rejected with %s, %s", async (target) => {
    const { from, copy } = tree();
    symlinkSync(target, join(from, "link"));
    await expect(copy()).rejects.toThrow(new RefusedTree("link is a link to a place outside the tools"));
  });

  it("is rejected with a pipe, and above the size limit", async () => {
    const { from, copy } = tree();
    execFileSync("mkfifo", [join(from, "pipe")]);
    await expect(copy()).rejects.toThrow(new RefusedTree("pipe is not a file, folder or link"));
    await expect(tree().copy(OWN, 3)).rejects.toThrow(new RefusedTree("it is larger than the tool store"));
    await expect(tree().copy(OWN, 4)).resolves.toBe(4);
  });

  it.runIf(isRoot)("keeps no setuid bit, and none of another user's files", async () => {
    const user = unnamedUser();
    const [suid, linked, given] = [tree(), tree(), tree()];
    chownTree(user, suid.from);
    chmodSync(join(suid.from, "bin/tool"), 0o6755);
    await suid.copy(user.uid);
    expect(lstatSync(join(suid.to, "bin/tool"))).toMatchObject({ uid: OWN, gid: process.getgid?.() });
    expect(lstatSync(join(suid.to, "bin/tool")).mode & 0o7777).toBe(0o755);

    const secret = join(testFolder(), "secret");
    writeFileSync(secret, "secret", { mode: 0o600 });
    chownTree(user, linked.from);
    linkSync(secret, join(linked.from, "hard"));
    await expect(linked.copy(user.uid)).rejects.toThrow(new RefusedTree("hard belongs to another user"));
    expect(existsSync(join(linked.to, "hard"))).toBe(false);

    chownTree(user, given.from);
    chownSync(join(given.from, "bin"), 0, 0);
    await expect(given.copy(user.uid)).rejects.toThrow(new RefusedTree("bin belongs to another user"));
  });

  it("counts a file once for each of its names", async () => {
    const { from, to, copy } = tree();
    linkSync(join(from, "bin/tool"), join(from, "again"));
    await copy();
    expect(lstatSync(join(to, "again")).nlink).toBe(1);
  });

  it.runIf(canAttack && process.platform === "linux")("never contains files behind a swapped folder", async () => {
    const user = unnamedUser();
    const secrets = testFolder();
    chmodSync(secrets, 0o700);
    for (let at = 0; at < 20; at++) writeFileSync(join(secrets, `f${at}`), "SECRET");
    const { from, to } = tree();
    const swapped = join(from, "swapped");
    mkdirSync(swapped);
    for (let at = 0; at < 20; at++) writeFileSync(join(swapped, `f${at}`), "plain");
    symlinkSync(secrets, join(from, "link"));
    chownTree(user, from);
    const attack = attackAs(
      user,
      `import ctypes, sys
libc = ctypes.CDLL(None)
print("ready", flush=True)
while True:
    libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)
`,
      [swapped, join(from, "link")],
    );
    await once(attack.stdout, "data");
    let copied = 0;
    for (let turn = 0; turn < 80; turn++) {
      const target = `${to}${turn}`;
      const rules = { owner: user.uid, root: from, bytes: 1e6, without: ["link"] };
      await copyTree(from, target, rules).catch(() => {});
      for (let at = 0; at < 20; at++) {
        const file = join(target, "swapped", `f${at}`);
        if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) continue;
        copied++;
        expect(readFileSync(file, "utf8")).not.toBe("SECRET");
      }
    }
    expect(copied).toBeGreaterThan(0);
    // The control: a read by path alone sooner or later finds a file behind the swapped folder.
    let isSwapped = false;
    for (let turn = 0; turn < 100_000 && !isSwapped; turn++)
      try {
        isSwapped = readFileSync(join(swapped, "f0"), "utf8") === "SECRET";
      } catch {
        // The read fell between two swaps.
      }
    expect(isSwapped).toBe(true);
  });
});
