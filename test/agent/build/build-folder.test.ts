import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type BuildFolder,
  endAndRemoveBuild,
  makeBuildFolder,
  removeBuildFolder,
} from "../../../src/agent/build/build-folder.ts";
import { chownTree, type StepUser } from "../../../src/agent/process/step-user.ts";
import { isRoot } from "../../support/local/named-user.ts";
import { testFolder } from "../support/folder.ts";
import { attackAs, canAttack, unnamedUser } from "../support/step-user.ts";

const FOLDERS = 16;
const VICTIMS = 20;

/** Swaps folders with links to another place, as fast as it can, in the workspace whose path it read last. */
const SWAPPER = `
import ctypes, os, sys, threading, time
libc = ctypes.CDLL(None)
base = None
def listen():
    global base
    for line in sys.stdin.buffer:
        base = line.strip()
        os.write(1, b".")
threading.Thread(target=listen, daemon=True).start()
while True:
    here, done = base, 0
    for n in range(${FOLDERS}) if here else ():
        done += 0 == libc.renameat2(-100, here + b"/z/d%d" % n, -100, here + b"/y/l%d" % n, 2)
    if not done:
        time.sleep(0.001)
`;

/** Creates an ended build's workspace. The user owns everything in it except `victim`, the target of its links. */
const attackedFolder = async (work: string, user: StepUser, victim: string) => {
  const folder = await makeBuildFolder(work, user);
  for (const name of ["z", "y"]) mkdirSync(join(folder.workspace, name));
  for (let n = 0; n < FOLDERS; n++) {
    mkdirSync(join(folder.workspace, `z/d${n}`));
    writeFileSync(join(folder.workspace, `z/d${n}/file`), "");
    symlinkSync(victim, join(folder.workspace, `y/l${n}`));
  }
  chownTree(user, folder.workspace);
  return folder;
};

type Remove = (folder: BuildFolder, user: StepUser) => Promise<void>;

/** Removes attacked folders in turn. Returns the round in which a file outside disappeared, or null. */
const lostIn = async (rounds: number, remove: Remove): Promise<number | null> => {
  const user = unnamedUser();
  const work = testFolder();
  chmodSync(work, 0o711);
  const outside = testFolder();
  chmodSync(outside, 0o755);
  const victim = join(outside, "victim");
  const swapper = attackAs(user, SWAPPER);
  mkdirSync(victim, { mode: 0o755 });
  for (let n = 0; n < VICTIMS; n++) writeFileSync(join(victim, String(n)), "root's");
  for (let round = 1; round <= rounds; round++) {
    const folder = await attackedFolder(work, user, victim);
    const isNamed = once(swapper.stdout, "data");
    swapper.stdin.write(`${folder.workspace}\n`);
    await isNamed;
    await remove(folder, user).catch(() => {});
    if (!existsSync(victim) || readdirSync(victim).length < VICTIMS) return round;
  }
  return null;
};

describe.runIf(canAttack)("links that are swapped while root removes a folder", () => {
  it("mislead a removal by path", async () => {
    expect(await lostIn(400, ({ path }) => rm(path, { recursive: true, force: true }))).not.toBeNull();
  });

  it("do not mislead the agent's removal in 60 rounds while the swapping process runs", async () => {
    expect(await lostIn(60, ({ path }, user) => removeBuildFolder(path, user))).toBeNull();
  });
});

describe("a build's folder", () => {
  it("is removed despite closed folders and paths longer than the path limit", async () => {
    const folder = await makeBuildFolder(testFolder(), null);
    const long = join(...Array(15).fill("d".repeat(200)));
    for (const name of ["one", "other"]) mkdirSync(join(folder.workspace, name, long), { recursive: true });
    renameSync(join(folder.workspace, "one"), join(folder.workspace, "other", long, "one"));
    mkdirSync(join(folder.workspace, "closed/a"), { recursive: true });
    for (const name of ["closed/a", "closed"]) chmodSync(join(folder.workspace, name), 0);
    await removeBuildFolder(folder.path, null);
    expect(existsSync(folder.path)).toBe(false);
  });

  it.runIf(isRoot)("is removed with root's files in it, for example from a container", async () => {
    const user = unnamedUser();
    const folder = await makeBuildFolder(testFolder(), user);
    chownTree(user, folder.workspace);
    mkdirSync(join(folder.workspace, "of-root/inside"), { recursive: true, mode: 0o700 });
    expect(await endAndRemoveBuild(folder.path, user, 100)).toBe(true);
    expect(existsSync(folder.path)).toBe(false);
  });
});
