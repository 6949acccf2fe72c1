import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findIdentity, loadIdentity, makeStateFolder } from "../../../src/agent/cli/identity.ts";
import { lockAgent, runningAgentPid } from "../../../src/agent/process/lock.ts";
import type { StepUser } from "../../../src/agent/process/step-user.ts";
import { isRoot } from "../../support/local/named-user.ts";
import { testFolder } from "../support/folder.ts";
import { unnamedUser } from "../support/step-user.ts";

const claimsOf = (state: string, work = testFolder(), user: StepUser | null = null) => ({ state, work, user });

describe("an agent's locks", () => {
  it("include its work folder, and are all released when one is already held", () => {
    const [work, state] = [testFolder(), testFolder()];
    const unlock = lockAgent(claimsOf(testFolder(), work));
    expect(() => lockAgent(claimsOf(state, work))).toThrow(/uses the work folder .*: give each agent its own --work$/);
    expect(runningAgentPid(state)).toBeNull();
    unlock();
    lockAgent(claimsOf(state, work))();
  });

  it.runIf(isRoot)("include the user of its steps", () => {
    const user = unnamedUser();
    const unlock = lockAgent(claimsOf(testFolder(), testFolder(), user));
    expect(() => lockAgent(claimsOf(testFolder(), testFolder(), user))).toThrow(
      `another agent runs its steps as ${user.name} (process ${process.pid}), and ends all processes of that user`,
    );
    lockAgent(claimsOf(testFolder(), testFolder(), unnamedUser()))();
    unlock();
  });
});

describe("the lock of a state folder", () => {
  it("is held until it is released", () => {
    const claims = claimsOf(testFolder());
    const unlock = lockAgent(claims);
    expect(runningAgentPid(claims.state)).toBe(process.pid);
    expect(() => lockAgent(claims)).toThrow(/another agent uses the state folder /);
    unlock();
    expect(runningAgentPid(claims.state)).toBeNull();
    lockAgent(claims)();
  });

  it.each([
    ["a dead process", "999999999 x\n"],
    ["a reused process number", `${process.pid} another-start\n`],
    ["an invalid file", "?"],
    ["an empty file", ""],
  ])("of %s is taken over", (_, text) => {
    const folder = testFolder();
    writeFileSync(join(folder, "lock"), text);
    expect(runningAgentPid(folder)).toBeNull();
    const unlock = lockAgent(claimsOf(folder));
    expect(runningAgentPid(folder)).toBe(process.pid);
    unlock();
    expect(existsSync(join(folder, "lock"))).toBe(false);
  });
});

describe("the agent's identity", () => {
  it("is distinguished from a damaged file and a missing file", () => {
    const folder = join(testFolder(), "state");
    expect(findIdentity(folder)).toBeNull();
    expect(() => loadIdentity(folder)).toThrow(/run register first/);
    makeStateFolder(folder);
    writeFileSync(join(folder, "identity.json"), '{"token": "mra_secret"');
    expect(() => loadIdentity(folder)).toThrow(/damaged/);
    expect(() => loadIdentity(folder)).not.toThrow(/mra_secret/);
  });
});
