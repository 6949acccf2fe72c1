import { execFile, execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { MISE_VERSION } from "../../../src/agent/tools/mise-release.ts";
import { isRoot } from "../../support/local/named-user.ts";
import { runAgentCli } from "../support/agent-cli.ts";
import { testFolder } from "../support/folder.ts";
import { testRepository } from "../support/repository.ts";
import { namedUser } from "../support/step-user.ts";
import { startStubServer } from "../support/stub-server.ts";
import { waitUntil } from "../support/wait-until.ts";
import { NODE_VERSION, startNodeMirror } from "./support/node-mirror.ts";
import { REGISTRY, startNpmProxy } from "./support/npm-proxy.ts";
import { hasMise } from "./support/tested-mise.ts";
import { build, fakeService, useToolAgents } from "./support/tool-agents.ts";

const tools = useToolAgents("small");
const PRINT = "  - run: which node; node --version\n";
const tarballs = (): number => tools.mirror().asked.filter((path) => path.endsWith(".tar.gz")).length;

describe.runIf(hasMise)("tools", () => {
  it("are set up before the first step, and are absent for a file without tools", async () => {
    const service = await fakeService();
    const { work } = tools.start(service, null);
    const repository = testRepository({
      ".millrace.yml": `tools: { node: "\${{ vars.NODE || '${NODE_VERSION.split(".")[0]}' }}" }\nsteps:\n${PRINT}  - run: console.log(process.execPath)\n    shell: node\n`,
    });
    const { body, log } = await build(service, repository);
    expect({ body, log }).toMatchObject({ body: { status: "succeeded" } });
    expect(log).toContain("--- Set up tools");
    expect(log).toMatch(new RegExp(`node ${NODE_VERSION}\n1 tool set up in \\d+\\.\\d s\n`));
    expect(log).toContain(`${work}/tools/data/installs/node/24/bin/node\nv${NODE_VERSION}\n`);
    repository.commit({ ".millrace.yml": `steps:\n${PRINT}` });
    const without = await build(service, repository);
    expect(without.body).toMatchObject({ status: "succeeded" });
    expect(without.log).not.toContain("Set up tools");
    await waitUntil(() => !existsSync(join(work, "tools")));
  });

  it("are not set up from a download with a wrong checksum", async () => {
    const service = await fakeService();
    tools.start(service, null);
    const mirror = tools.mirror();
    mirror.isHonest = false;
    onTestFinished(() => {
      mirror.isHonest = true;
    });
    const repository = testRepository({ ".millrace.yml": `tools: { node: 24 }\nsteps:\n${PRINT}` });
    const { body, log } = await build(service, repository);
    expect(body).toMatchObject({
      status: "failed",
      reason: "agent-error",
      message: expect.stringContaining("hecksum"),
    });
    expect(log).not.toContain(`v${NODE_VERSION}\n---`);
    mirror.isHonest = true;
    repository.commit({
      "mise.lock": `[[tools.node]]\nversion = "${NODE_VERSION}"\nbackend = "core:node"\n[tools.node."platforms.linux-x64"]\nchecksum = "sha256:${"1".repeat(64)}"\nurl = "http://127.0.0.1:1/node.tar.gz"\n`,
    });
    const locked = await build(service, repository);
    expect(locked.body).toMatchObject({
      status: "failed",
      message: expect.stringContaining("Checksum mismatch"),
    });
    repository.commit({
      "mise.lock": `[[tools.node]]\nversion = "${NODE_VERSION}"\nbackend = "core:node"\n[tools.node."platforms.linux-x64"]\nchecksum = "sha256:${mirror.sha256}"\nurl = "http://127.0.0.1:1/node.tar.gz"\n`,
    });
    const right = await build(service, repository);
    expect(right).toMatchObject({ body: { status: "succeeded" } });
  });

  it("are reported missing by an offline agent", async () => {
    const service = await fakeService();
    const closed = await startStubServer(() => ({ status: 404 }));
    await closed.close();
    const { state } = tools.start(service, null, "--npm-registry", `${closed.url}/npm`);
    rmSync(join(state, "tools"), { recursive: true });
    const repository = testRepository({ ".millrace.yml": `tools: { node: 24 }\nsteps:\n${PRINT}` });
    const { body } = await build(service, repository);
    expect(body).toMatchObject({
      status: "failed",
      message: `tools: ${closed.url}/npm/@jdxcode/mise-linux-x64/-/mise-linux-x64-${MISE_VERSION}.tgz is unreachable (ECONNREFUSED): the agent may be offline`,
    });
  });
});

describe.runIf(hasMise && isRoot)("tools of an agent with --run-as", () => {
  it("are kept, and no step changes another build's tools", async () => {
    const service = await fakeService();
    const { state, work } = tools.start(service, namedUser());
    const text = `tools: { node: 24 }\nsteps:\n${PRINT}`;
    const spoil = `  - run: |\n      id -u; echo 'echo spoiled' > "$(readlink -f "$(which node)")"; node; ls ${state} || echo closed\n`;
    const [one, other] = [testRepository({ ".millrace.yml": text + spoil }), testRepository({ ".millrace.yml": text })];
    one.git("branch", "side");
    const before = tarballs();
    const first = await build(service, one);
    expect(first).toMatchObject({ body: { status: "succeeded" } });
    expect(first.log).toContain("spoiled");
    expect(first.log).toContain("closed");
    expect(tarballs()).toBe(before + 1);

    const again = await build(service, one);
    expect(again.log).toContain("reused the tools that this agent kept for refs/heads/main\n");
    expect(again.log).toContain(`\nv${NODE_VERSION}\n`);
    const side = await build(service, one, { branch: "side" });
    expect(side.log).toContain("reused the tools that this agent kept for refs/heads/main, the default branch\n");
    expect(side.log).toContain(`\nv${NODE_VERSION}\n`);
    expect(tarballs()).toBe(before + 1);

    const elsewhere = await build(service, other, { repoId: "01900000-0000-7000-8000-0000000000b2" });
    expect(elsewhere.log).not.toContain("taken from");
    expect(tarballs()).toBe(before + 2);
    expect(readdirSync(join(state, "tools/store"))).toHaveLength(2);
    await waitUntil(() => !readdirSync(work).includes("tools"));
  });

  it("that only a branch names are not read by the default branch", async () => {
    const service = await fakeService();
    tools.start(service, namedUser());
    const repository = testRepository({ ".millrace.yml": "steps: [{ run: 'true' }]\n" });
    repository.git("checkout", "-q", "-b", "side");
    repository.commit({ ".millrace.yml": `tools: { node: 24 }\nsteps:\n${PRINT}` });
    expect((await build(service, repository, { branch: "side" })).body).toMatchObject({ status: "succeeded" });
    const own = await build(service, repository, { branch: "side" });
    expect(own.log).toContain("reused the tools that this agent kept for refs/heads/side\n");
    repository.git("checkout", "-q", "main");
    repository.git("merge", "-q", "side");
    const before = tarballs();
    const main = await build(service, repository);
    expect(main.log).not.toContain("taken from");
    expect(tarballs()).toBe(before + 1);
  });
});

/**
 * Returns a commit whose configuration runs a program in each way that mise offers. Each program leaves a file in
 * `marks`.
 */
const hostile = (marks: string): Record<string, string> => ({
  ".millrace.yml": `tools: auto\nsteps:\n${PRINT}`,
  "mise.toml": `[tools]
node = { version = "24", postinstall = "touch ${marks}/postinstall" }
[plugins]
evil = "file://${marks}/evil"
[env]
_.source = "./source.sh"
A = "{{ exec(command='touch ${marks}/template') }}"
[hooks]
postinstall = "touch ${marks}/hook"
`,
  "source.sh": `touch ${marks}/source\n`,
});

/** Creates a mise plugin in a repository of its own. */
const makePlugin = (marks: string): void => {
  mkdirSync(join(marks, "evil/bin"), { recursive: true });
  for (const name of ["list-all", "install"])
    writeFileSync(
      join(marks, "evil/bin", name),
      `#!/bin/sh\ntouch ${marks}/plugin; mkdir -p $ASDF_INSTALL_PATH/bin; echo 1.0.0\n`,
      {
        mode: 0o755,
      },
    );
  const git = (...args: string[]) => execFileSync("git", args, { cwd: join(marks, "evil"), stdio: "ignore" });
  git("init", "-q");
  git("add", "-A");
  git("-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-q", "-m", "x");
};

const ran = (marks: string): string[] => readdirSync(marks).filter((name) => name !== "evil");

describe.runIf(hasMise)("a repository that makes mise run the repository's commands", () => {
  it("runs none of them, and gets the tools that it names", async () => {
    const marks = testFolder();
    chmodSync(marks, 0o777);
    makePlugin(marks);
    const service = await fakeService();
    tools.start(service, isRoot ? namedUser() : null);
    const repository = testRepository(hostile(marks));
    const { body, log } = await build(service, repository);
    expect({ body, log }).toMatchObject({ body: { status: "succeeded" } });
    expect(log).toContain(`node ${NODE_VERSION} (24 in mise.toml)\n`);
    expect(log).toContain(`tools/data/installs/node/24/bin/node\nv${NODE_VERSION}\n`);
    expect(ran(marks)).toEqual([]);

    const withPlugin = hostile(marks)["mise.toml"]?.replace("[plugins]", 'evil = "1.0.0"\n[plugins]') ?? "";
    repository.commit({ "mise.toml": withPlugin });
    const refused = await build(service, repository);
    expect(refused.body).toMatchObject({ reason: "pipeline-invalid", message: "mise.toml: unknown tool evil" });
    expect(ran(marks)).toEqual([]);

    // The control: a default mise runs them all.
    const home = testFolder();
    const env = { ...process.env, ...tools.mirror().env, HOME: home, MISE_YES: "1", MISE_DATA_DIR: join(home, "data") };
    await promisify(execFile)(tools.miseProgram(), ["install"], { cwd: repository.folder, env });
    expect(ran(marks).sort()).toEqual(["hook", "plugin", "postinstall", "source", "template"]);
  });
});

describe.runIf(hasMise)("an npm package", () => {
  it("is installed by the accompanying Node's npm, through the agent's proxy, which sees no token", async () => {
    const service = await fakeService();
    const mirror = await startNodeMirror("with npm");
    onTestFinished(() => mirror.close());
    const proxy = await startNpmProxy();
    const tokens = { NPM_TOKEN: "t0ken", NODE_AUTH_TOKEN: "t0ken", npm_config__auth: "dDBrZW4=" };
    const reach = {
      HTTP_PROXY: proxy.url,
      http_proxy: proxy.url,
      NO_PROXY: "127.0.0.1",
      NPM_CONFIG_REGISTRY: REGISTRY,
    };
    tools.startWith(
      { ...mirror.env, ...tokens, ...reach, "npm_config_//registry.invalid/:_authToken": "t0ken" },
      service,
      null,
    );
    const repository = testRepository({
      ".millrace.yml": `tools: { node: 24, "npm:semver": 7.7.2 }\nsteps:\n  - run: which semver; semver 1.2.3\n`,
    });
    const { body, log } = await build(service, repository);
    expect({ body, log }).toMatchObject({ body: { status: "succeeded" } });
    expect(log).toMatch(/tools\/data\/installs\/npm-semver\/7\.7\.2\/bin\/semver\n1\.2\.3\n/);
    expect(proxy.asked.map(({ url }) => url)).toContainEqual(expect.stringMatching(/semver-7\.7\.2\.tgz$/));
    expect(log).not.toContain("t0ken");
    expect(JSON.stringify(proxy.asked)).not.toMatch(/t0ken|dDBrZW4=|authorization/i);
  });
});

describe.runIf(hasMise)("run FILE", () => {
  it("sets up tools without the service", async () => {
    const folder = testFolder();
    writeFileSync(join(folder, "file.yml"), `tools: auto\nsteps:\n${PRINT}`);
    writeFileSync(join(folder, ".nvmrc"), `v${NODE_VERSION}\n`);
    const run = runAgentCli(["run", "file.yml", "--mise", tools.miseProgram()], {
      cwd: folder,
      env: { ...tools.mirror().env, HOME: folder },
    });
    const { code, stdout } = await run.ended;
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(stdout).toContain("from this machine, checksum not verified\n");
    expect(stdout).toContain(`node ${NODE_VERSION} (${NODE_VERSION} in .nvmrc)\n`);
    expect(stdout).toContain(`\nv${NODE_VERSION}\n`);
    const none = runAgentCli(["run", "file.yml", "--mise", "/bin/true"], { cwd: folder, env: { HOME: folder } });
    expect((await none.ended).stderr).toContain("/bin/true cannot run, or is not mise: install mise");
  });
});
