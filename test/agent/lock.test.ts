import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findIdentity, loadIdentity, openStateFolder, saveIdentity } from "../../src/agent/identity.ts";
import { serviceFile } from "../../src/agent/install.ts";
import { holderOf, lockFolder } from "../../src/agent/lock.ts";
import { IDENTITY } from "./support/agent-service.ts";
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

describe("the service file", () => {
  const stateFolder = (name: string): string => {
    const folder = join(testFolder(), name);
    mkdirSync(folder);
    saveIdentity(folder, { ...IDENTITY, url: "https://mill.example" });
    return folder;
  };

  it("for systemd starts the agent, lets builds finish, and gives up where a person is needed", () => {
    const state = stateFolder('50% "off"');
    const { text, path, next } = serviceFile({ state, runAs: null, write: false }, "/opt/agent.mjs", "linux");
    expect(text).toContain(`"${process.execPath}" "/opt/agent.mjs" "start" "--state" `);
    expect(text).toContain('50%% \\"off\\""\n');
    expect(text).toMatch(/KillMode=mixed\nDelegate=yes\nTimeoutStopSec=1h/);
    expect(text).toContain("RestartPreventExitStatus=2 3 4");
    expect(path).toMatch(/millrace-agent\.service$/);
    expect(next.join("\n")).toContain("enable --now millrace-agent");
    expect(text).not.toContain("mra_");
  });

  it("for launchd is a well-formed property list", () => {
    const state = stateFolder("a & <b>");
    const { text, path, next } = serviceFile({ state, runAs: "builder", write: false }, "/opt/agent.mjs", "darwin");
    expect(text).toContain("a &amp; &lt;b&gt;</string>");
    expect(text).toContain("<string>--run-as</string>\n    <string>builder</string>");
    expect(path).toMatch(/Library\/LaunchAgents\/dev\.millrace\.agent\.plist$/);
    expect(next[0]).toContain("launchctl bootstrap");
  });

  it("is not made for a folder without an agent", () => {
    expect(() => serviceFile({ state: testFolder(), runAs: null, write: false }, "/a", "linux")).toThrow(
      /register first/,
    );
  });
});
