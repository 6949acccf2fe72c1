import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findIdentity, loadIdentity, openStateFolder } from "../../src/agent/identity.ts";
import { holderOf, lockFolder } from "../../src/agent/lock.ts";
import { testFolder } from "./support/folder.ts";

describe("the lock of a state folder", () => {
  it("is held until it is given back", () => {
    const folder = testFolder();
    const unlock = lockFolder(folder);
    expect(holderOf(folder)).toBe(process.pid);
    expect(() => lockFolder(folder)).toThrow(/already runs/);
    unlock();
    expect(holderOf(folder)).toBeNull();
    lockFolder(folder)();
  });

  it.each([
    ["a dead process", "999999999 x\n"],
    ["a process number that was given away again", `${process.pid} another-start\n`],
    ["nothing that makes sense", "?"],
    ["an empty file", ""],
  ])("of %s is taken over", (_, text) => {
    const folder = testFolder();
    writeFileSync(join(folder, "lock"), text);
    expect(holderOf(folder)).toBeNull();
    const unlock = lockFolder(folder);
    expect(holderOf(folder)).toBe(process.pid);
    unlock();
    expect(existsSync(join(folder, "lock"))).toBe(false);
  });
});

describe("who the agent is", () => {
  it("is told apart from a damaged file and from nothing", () => {
    const folder = join(testFolder(), "state");
    expect(findIdentity(folder)).toBeNull();
    expect(() => loadIdentity(folder)).toThrow(/run register first/);
    openStateFolder(folder);
    writeFileSync(join(folder, "identity.json"), '{"token": "mra_secret"');
    expect(() => loadIdentity(folder)).toThrow(/damaged/);
    expect(() => loadIdentity(folder)).not.toThrow(/mra_secret/);
  });
});
