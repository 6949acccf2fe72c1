import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { saveIdentity } from "../../../src/agent/cli/identity.ts";
import { type InstallOptions, serviceFile, variablesToKeep, writeServiceFile } from "../../../src/agent/cli/install.ts";
import { rotateLog } from "../../../src/agent/cli/launchd.ts";
import { runAgentCli } from "../support/agent-cli.ts";
import { IDENTITY } from "../support/fake-service.ts";
import { testFolder } from "../support/folder.ts";
import { parsePlist, parseUnit, wordsOf } from "../support/service-files.ts";

const PATH = "/home/ci/.nvm/bin:/usr/bin:/with space/100%";
const LINUX = { platform: "linux", isRoot: false, home: "/home/ci", variables: { PATH } };
const SERVER = { ...LINUX, isRoot: true, home: "/root" };
const MAC = { ...LINUX, platform: "darwin", home: "/Users/ci" };
const PROGRAM = "/opt/agent.mjs";

const stateFolder = (name = "state", agent = "Mac mini (2)"): string => {
  const folder = join(testFolder(), name);
  mkdirSync(folder);
  saveIdentity(folder, { ...IDENTITY, name: agent, url: "https://mill.example" });
  return folder;
};

const options = (change: Partial<InstallOptions>): InstallOptions => ({
  state: null,
  user: null,
  runAs: null,
  work: null,
  grace: null,
  furtherOptions: [],
  service: null,
  ...change,
});

const start = (state: string, ...more: string[]) => [process.execPath, PROGRAM, "start", "--state", state, ...more];

/** Returns systemd's own messages about a unit file, where the machine has systemd. */
const verified = (text: string, kind: "--system" | "--user"): string => {
  const file = join(testFolder(), "millrace-agent.service");
  writeFileSync(file, text);
  const env = { ...process.env, XDG_RUNTIME_DIR: testFolder() };
  try {
    return execFileSync("systemd-analyze", [kind, "verify", file], { encoding: "utf8", stdio: "pipe", env });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
};
const hasSystemd = existsSync("/usr/bin/systemd-analyze");

describe("a systemd unit", () => {
  const usual = { Restart: "always", RestartSec: "5", RestartPreventExitStatus: "2 3 4 6" };
  const ending = { KillMode: "mixed", Delegate: "yes", TimeoutStopSec: "1h" };

  it("of a user keeps the shell's PATH, and requires no system units", () => {
    const state = stateFolder('50% "off" $HOME');
    const { text, path, nextCommands } = serviceFile(options({ state, work: "/data/work", grace: 30 }), PROGRAM, LINUX);
    const { Service, ...rest } = parseUnit(text);
    const { ExecStart, Environment, ...others } = Service ?? {};
    expect(rest).toEqual({ Unit: { Description: "Millrace build agent" }, Install: { WantedBy: "default.target" } });
    expect(wordsOf(ExecStart)).toEqual(start(state, "--work", "/data/work", "--grace", "30"));
    expect(wordsOf(Environment)).toEqual([`PATH=${PATH}`]);
    expect(others).toEqual({ ...usual, ...ending });
    expect(path).toBe("/home/ci/.config/systemd/user/millrace-agent-mac-mini-2.service");
    expect(nextCommands[0]).toMatch(/^sudo loginctl enable-linger/);
    expect(nextCommands).toContain("systemctl --user enable --now millrace-agent-mac-mini-2");
    expect(text).not.toContain("mra_");
  });

  it("of the system runs the agent as root with another user's steps, after the network is up", () => {
    const state = stateFolder();
    const { text, path, nextCommands } = serviceFile(options({ state, runAs: "builder" }), PROGRAM, SERVER);
    const { Unit, Service, Install } = parseUnit(text);
    expect(Unit).toMatchObject({ Wants: "network-online.target", After: "network-online.target" });
    expect(Service).toMatchObject({ ...usual, ...ending });
    expect(Service).not.toHaveProperty("User");
    expect(wordsOf(Service?.ExecStart)).toEqual(start(state, "--run-as", "builder"));
    expect(Install).toEqual({ WantedBy: "multi-user.target" });
    expect(path).toBe("/etc/systemd/system/millrace-agent-mac-mini-2.service");
    expect(nextCommands[0]).toBe("systemctl daemon-reload");
  });

  it("of the system runs the agent as the user who registered it", () => {
    const state = stateFolder();
    const { username } = userInfo();
    const { text, path } = serviceFile(options({ state, user: username }), PROGRAM, SERVER);
    expect(parseUnit(text).Service).toMatchObject({ User: username });
    expect(path).toMatch(/^\/etc\/systemd\/system\//);
  });

  it.runIf(process.getuid?.() === 0)("is rejected for an agent that another user registered (root only)", () => {
    const state = stateFolder();
    chownSync(join(state, "identity.json"), 65534, 65534);
    expect(() => serviceFile(options({ state, user: userInfo().username }), PROGRAM, SERVER)).toThrow(
      /not registered by/,
    );
  });

  it.runIf(hasSystemd)("is valid for systemd, if installed", () => {
    const state = stateFolder();
    const program = join(state, "identity.json");
    const { username } = userInfo();
    const machine = { ...LINUX, variables: { PATH, ANDROID_HOME: '/opt/"android" 100% \\x $HOME' } };
    expect(verified(serviceFile(options({ state }), program, machine).text, "--user")).toBe("");
    for (const change of [{ runAs: "builder" }, { user: username }])
      expect(verified(serviceFile(options({ state, ...change }), program, SERVER).text, "--system")).toBe("");
    expect(verified("[Service]\nExecStart=nowhere\nRestartt=always\n", "--system")).toMatch(/Restartt/);
  });
});

describe("a LaunchAgent", () => {
  it("is not throttled, and keeps the shell's PATH", () => {
    const state = stateFolder("a & <b>");
    const { text, path, nextCommands } = serviceFile(options({ state, grace: 30, work: "/data" }), PROGRAM, MAC);
    const log = join(state, "agent.log");
    expect(parsePlist(text)).toEqual({
      Label: "dev.millrace.agent.mac-mini-2",
      ProgramArguments: start(state, "--work", "/data", "--grace", "30"),
      EnvironmentVariables: { PATH, LANG: "en_US.UTF-8", MILLRACE_LAUNCHD_LOG: log },
      ProcessType: "Interactive",
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ThrottleInterval: 10,
      ExitTimeOut: 3600,
      StandardErrorPath: log,
    });
    expect(path).toBe("/Users/ci/Library/LaunchAgents/dev.millrace.agent.mac-mini-2.plist");
    expect(nextCommands[0]).toBe(`launchctl bootstrap gui/$(id -u) ${path}`);
  });

  it("does not restart after errors that only a person can fix, and logs that", async () => {
    const state = testFolder();
    const log = join(state, "agent.log");
    const plain = await runAgentCli(["start", "--state", state]).ended;
    expect(plain).toMatchObject({ code: 3, stderr: expect.stringContaining("run register first") });
    const managed = await runAgentCli(["start", "--state", state], { env: { MILLRACE_LAUNCHD_LOG: log } }).ended;
    expect(managed).toMatchObject({ code: 0, stderr: expect.stringContaining("run register first") });
    expect(managed.stderr).toContain("exits with 0 instead of 3");
    const usage = await runAgentCli(["begin"], { env: { MILLRACE_LAUNCHD_LOG: log } }).ended;
    expect(usage).toMatchObject({ code: 0, stderr: expect.stringContaining("unknown command 'begin'") });
    writeFileSync(join(state, "p.yml"), "steps:\n  - run: exit 7\n");
    const failed = await runAgentCli(["run", join(state, "p.yml")], { env: { MILLRACE_LAUNCHD_LOG: log } }).ended;
    expect(failed.code).toBe(7);
  });

  it("rotates its log while the file stays open", () => {
    const log = join(testFolder(), "agent.log");
    const descriptor = openSync(log, "a");
    const before = process.env.MILLRACE_LAUNCHD_LOG;
    process.env.MILLRACE_LAUNCHD_LOG = log;
    try {
      writeFileSync(descriptor, "first\n");
      rotateLog(100);
      expect(existsSync(`${log}.1`)).toBe(false);
      writeFileSync(descriptor, `${"x".repeat(100)}\n`);
      rotateLog(100);
      appendFileSync(descriptor, "later\n");
      expect(readFileSync(log, "utf8")).toBe("later\n");
      expect(statSync(`${log}.1`).size).toBe(107);
    } finally {
      if (before === undefined) delete process.env.MILLRACE_LAUNCHD_LOG;
    }
  });
});

describe("several agents on a machine", () => {
  it("have separate services, and none overwrites another's file", () => {
    const home = testFolder();
    const machine = { ...LINUX, home };
    const one = stateFolder("one", "north");
    const other = stateFolder("other", "North!");
    const file = (state: string, service: string | null = null) =>
      serviceFile(options({ state, service }), PROGRAM, machine);
    writeServiceFile(file(one));
    writeServiceFile(file(one));
    const first = readFileSync(file(one).path, "utf8");
    expect(file(other).path).toBe(file(one).path);
    expect(() => writeServiceFile(file(other))).toThrow(/starts another agent: .*--service NAME/);
    expect(readFileSync(file(one).path, "utf8")).toBe(first);
    writeServiceFile(file(other, "millrace-south"));
    expect(readFileSync(join(home, ".config/systemd/user/millrace-south.service"), "utf8")).toContain(other);
  });

  it("leave the default name to the agent in the default state folder", async () => {
    const home = testFolder();
    mkdirSync(join(home, ".millrace"), { recursive: true });
    saveIdentity(join(home, ".millrace"), { ...IDENTITY, url: "https://mill.example" });
    const { stderr, code } = await runAgentCli(["install"], { cwd: home, env: { HOME: home } }).ended;
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringMatching(/millrace-agent\.service/) });
  });
});

describe("the shell's variables", () => {
  const kept = {
    ANDROID_HOME: '/opt/"android" 100% \\x $HOME &<b>',
    JAVA_HOME_17_X64: "/opt//openjdk@17",
    LANG: "de_DE.UTF-8",
    LC_TIME: "C",
    https_proxy: "http://proxy.example:3128",
    NODE_EXTRA_CA_CERTS: "/etc/our.pem",
  };
  const others = {
    SSH_AUTH_SOCK: "/tmp/ssh-x/agent.1",
    MILLRACE_TOKEN: "mrt_secret",
    GITHUB_TOKEN: "secret",
    HTTP_PROXY: "http://ci:secret@proxy.example:3128",
    JAVA_HOME: "/opt/java\nExecStartPre=/bin/evil",
    DEVELOPER_DIR: "",
  };
  const env = { PATH, ...kept, ...others };

  it("that builds need are kept unchanged in the unit, without secrets", () => {
    const found = variablesToKeep(env);
    const machine = { ...LINUX, variables: found.variables };
    const { text } = serviceFile(options({ state: stateFolder() }), PROGRAM, machine);
    const words = wordsOf(parseUnit(text).Service?.Environment);
    expect(words.sort()).toEqual(
      Object.entries({ PATH, ...kept })
        .map(([name, value]) => `${name}=${value}`)
        .sort(),
    );
    expect(text).not.toMatch(/secret|evil|ssh-x/);
    expect(found.omitted).toEqual([
      "HTTP_PROXY has a password",
      "JAVA_HOME has control characters",
      "SSH_AUTH_SOCK ends with this session",
    ]);
  });

  it("are kept in the LaunchAgent, whose default language is UTF-8", () => {
    const machine = { ...MAC, variables: variablesToKeep(env).variables };
    const plist = parsePlist(serviceFile(options({ state: stateFolder() }), PROGRAM, machine).text);
    expect(plist).toMatchObject({ EnvironmentVariables: { PATH, ...kept } });
    expect(JSON.stringify(plist)).not.toMatch(/secret|evil|ssh-x/);
    const spoken = { ...MAC, variables: { PATH, LC_ALL: "C" } };
    const other = parsePlist(serviceFile(options({ state: stateFolder() }), PROGRAM, spoken).text);
    expect(other).not.toHaveProperty("EnvironmentVariables.LANG");
  });

  it("are listed by install, including those that are not kept", async () => {
    const shell = { JAVA_HOME: "/opt/java", HTTP_PROXY: "http://ci:secret@proxy.example:3128" };
    const { stdout, stderr } = await runAgentCli(["install", "--state", stateFolder()], { env: shell }).ended;
    expect(stderr).toMatch(/^Variables kept from this shell: PATH, .*JAVA_HOME/m);
    expect(stderr).toMatch(/^Variables not kept: HTTP_PROXY has a password/m);
    expect(stdout).toContain("JAVA_HOME=/opt/java");
    expect(stdout + stderr).not.toContain("secret");
  });
});

describe("install", () => {
  it("passes cache and tool options on to start", async () => {
    const state = stateFolder();
    const given = ["--cache-gib", "5", "--mise", "/opt/mise", "--tool-store", "2.5"];
    const registry = ["--npm-registry", "https://npm.example"];
    const { stdout, code } = await runAgentCli(["install", "--state", state, ...given, ...registry]).ended;
    expect(code).toBe(0);
    const [, start = ""] = /^ExecStart=(.*)$/m.exec(stdout) ?? [];
    expect(start.replaceAll('"', "")).toContain(
      "--cache-gib 5 --mise /opt/mise --npm-registry https://npm.example --tool-store 2.5",
    );
    expect((await runAgentCli(["install", "--state", state, "--cache-gib", "much"]).ended).code).not.toBe(0);
  });

  it.each([
    ["both --user and --run-as", { user: "root", runAs: "builder" }, SERVER, /use only one/],
    ["--run-as without root", { runAs: "builder" }, LINUX, /run install with sudo/],
    ["--run-as on a Mac", { runAs: "builder" }, MAC, /omit --run-as and --user/],
    ["an unknown user", { user: "nobody-knows-me" }, SERVER, /user nobody-knows-me does not exist/],
    ["an invalid user name", { user: "$(id)" }, SERVER, /must be the name of a user/],
    ["an invalid service name", { service: "../x" }, LINUX, /--service must consist/],
    ["a folder without an agent", {}, LINUX, /register first/],
  ])("rejects %s", (_, change, machine, word) => {
    const state = "runAs" in change || "service" in change ? stateFolder() : testFolder();
    expect(() => serviceFile(options({ state, ...change }), PROGRAM, machine)).toThrow(word);
  });
});
