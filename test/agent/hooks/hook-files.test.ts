import { chmodSync, chownSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findHooks, UnsafeHook } from "../../../src/agent/hooks/hook-files.ts";
import { isRoot } from "../../support/local/named-user.ts";
import { testFolder } from "../support/folder.ts";
import { writeHooks } from "./support/hooks.ts";

const state = (): string => {
  const folder = join(testFolder(), "state");
  mkdirSync(folder, { mode: 0o700 });
  return folder;
};
const withHook = (): { root: string; hooks: string; file: string } => {
  const root = state();
  const hooks = writeHooks(root, { "before-job": "true" });
  return { root, hooks, file: join(hooks, "before-job") };
};
const refusal = (root: string): string => {
  try {
    findHooks(root);
  } catch (error) {
    if (error instanceof UnsafeHook) return error.message;
    throw error;
  }
  return "none";
};

describe("the hooks in a state folder", () => {
  it("are found if nobody else can have written them", () => {
    const { root, hooks, file } = withHook();
    expect(findHooks(root)).toEqual({ folder: hooks, paths: { "before-job": file } });
    chmodSync(file, 0o755);
    chmodSync(hooks, 0o755);
    expect(refusal(root)).toBe("none");
  });

  it("are absent without the folder, and in an empty folder", () => {
    const root = state();
    expect(findHooks(root)).toBeNull();
    mkdirSync(join(root, "hooks"));
    writeFileSync(join(root, "hooks", "README"), "");
    expect(findHooks(root)).toBeNull();
  });

  it.each([
    ["the group can write the file", "file", 0o720],
    ["others can write the file", "file", 0o702],
    ["the group can write the folder", "hooks", 0o770],
    ["others can write the folder", "hooks", 0o703],
    ["others can put another folder in its place", "root", 0o777],
  ] as const)("are rejected if %s", (_, which, mode) => {
    const hook = withHook();
    chmodSync(hook[which], mode);
    expect(refusal(hook.root)).toBe(`${hook[which]} can be written by users other than its owner (chmod go-w)`);
  });

  it("are rejected if the file or the folder is a link, wherever it leads", () => {
    const { root, hooks, file } = withHook();
    renameSync(file, join(hooks, "real"));
    symlinkSync(join(hooks, "real"), file);
    expect(refusal(root)).toBe(`${file} is a link`);
    rmSync(file);
    symlinkSync("/nowhere", file);
    expect(refusal(root)).toBe(`${file} is a link`);
    rmSync(file);
    renameSync(hooks, join(root, "elsewhere"));
    symlinkSync(join(root, "elsewhere"), hooks);
    expect(refusal(root)).toBe(`${hooks} is a link`);
  });

  it("are rejected if they are not files, or not executable", () => {
    const { root, file } = withHook();
    chmodSync(file, 0o600);
    expect(refusal(root)).toBe(`${file} is not executable (chmod u+x)`);
    rmSync(file);
    mkdirSync(file, { mode: 0o700 });
    expect(refusal(root)).toBe(`${file} is not a file`);
  });

  it("are rejected if one of two is unsafe", () => {
    const { root, hooks, file } = withHook();
    linkSync(file, join(hooks, "after-job"));
    expect(refusal(root)).toBe("none");
    rmSync(join(hooks, "after-job"));
    symlinkSync(file, join(hooks, "after-job"));
    expect(refusal(root)).toBe(`${join(hooks, "after-job")} is a link`);
  });

  it.runIf(isRoot).each(["file", "hooks", "root"] as const)(
    "are rejected if the %s belongs to another user",
    (which) => {
      const hook = withHook();
      chownSync(hook[which], 12345, 12345);
      expect(refusal(hook.root)).toBe(`${hook[which]} does not belong to the agent's user (chown)`);
    },
  );
});
