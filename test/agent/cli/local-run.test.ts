import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXIT } from "../../../src/agent/cli/exit-codes.ts";
import { runAgentCli } from "../support/agent-cli.ts";
import { testFolder } from "../support/folder.ts";
import { testRepository } from "../support/repository.ts";
import { waitUntil } from "../support/wait-until.ts";

/** Runs a pipeline file as a person does, in a new folder. */
const run = async (steps: string, ...more: string[]) => {
  const folder = testFolder();
  writeFileSync(join(folder, "p.yml"), steps);
  return { folder, ...(await runAgentCli(["run", "p.yml", ...more], { cwd: folder }).ended) };
};

describe("run FILE", () => {
  it("runs the steps in this folder, with outputs, environment and conditions, without a service", async () => {
    const { code, stdout, folder } = await run(
      `env:
  WHO: nobody
steps:
  - id: make
    run: |
      echo "hello $WHO, CI is $CI"
      echo "answer=42" >> "$MILLRACE_OUTPUT"
      echo "LATER=on" >> "$MILLRACE_ENV"
      touch here
  - name: The answer is \${{ steps.make.outputs.answer }}
    shell: sh
    run: echo "later $LATER"
  - run: exit 3
  - run: echo never
  - if: failure()
    shell: node
    run: console.log("after " + process.env.LATER)
`,
      ...["--env", "WHO=a=b c"],
    );
    expect(stdout).toBe(
      '--- echo "hello $WHO, CI is $CI"\nhello a=b c, CI is true\n--- The answer is 42\nlater on\n--- exit 3\nThe step ended with exit code 3\n' +
        '--- console.log("after " + process.env.LATER)\nafter on\n',
    );
    expect(code).toBe(3);
    expect(existsSync(join(folder, "here"))).toBe(true);
  });

  it("keeps standard output and error in order, and reads both to the last byte", async () => {
    const { stdout, code } = await run(
      "steps:\n  - run: for n in $(seq 500); do echo out $n; echo err $n >&2; done; head -c 300000 /dev/zero | tr '\\0' x\n",
    );
    const lines = stdout.split("\n");
    expect(code).toBe(0);
    expect(lines.slice(1, 1001)).toEqual(
      Array.from({ length: 1000 }, (_, n) => `${n % 2 ? "err" : "out"} ${(n >> 1) + 1}`),
    );
    expect(lines[1001]).toHaveLength(300_000);
  });

  it("knows the branch and commit of this folder's repository", async () => {
    const repository = testRepository({
      "p.yml": 'steps:\n  - run: echo "$MILLRACE_BRANCH $MILLRACE_COMMIT ${{ build.branch }}"\n',
    });
    repository.git("tag", "main");
    const { stdout } = await runAgentCli(["run", "p.yml"], { cwd: repository.folder }).ended;
    expect(stdout.split("\n")[1]).toBe(`main ${repository.git("rev-parse", "HEAD")} main`);
  });

  it("passes no variables from git or the agent to steps", async () => {
    const folder = testFolder();
    writeFileSync(join(folder, "p.yml"), "steps:\n  - run: env\n");
    const env = { GIT_DIR: "/evil", MILLRACE_TOKEN: "outer", MILLRACE_BUILD_ID: "outer", KEPT: "yes" };
    const { stdout } = await runAgentCli(["run", "p.yml"], { cwd: folder, env }).ended;
    expect(stdout).toContain("KEPT=yes\n");
    expect(stdout).not.toMatch(/GIT_DIR|MILLRACE_TOKEN|outer/);
  });

  it("stops at once, with all its processes, when interrupted", async () => {
    const folder = testFolder();
    writeFileSync(
      join(folder, "p.yml"),
      "steps:\n  - run: setsid sleep 1000 & echo $! > pid; echo ready; sleep 1000\n",
    );
    const running = runAgentCli(["run", "p.yml"], { cwd: folder });
    await waitUntil(() => running.output().includes("ready\n"));
    running.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
    const pid = readFileSync(join(folder, "pid"), "utf8").trim();
    const state = existsSync(`/proc/${pid}/stat`)
      ? readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.[0]
      : "gone";
    expect(["gone", "Z"]).toContain(state);
  });

  it("does not follow files that a step puts in place of its command files", async () => {
    const { stdout, code } = await run(
      `steps:
  - id: evil
    run: ln -sf /etc/passwd "$MILLRACE_OUTPUT"
  - run: echo "got <\${{ steps.evil.outputs.root || 'nothing' }}>"
`,
    );
    expect(code).toBe(0);
    expect(stdout).toContain("got <nothing>");
  });

  it("passes a file variable as a private copy, and removes the copy afterwards", async () => {
    const folder = testFolder();
    const bytes = Buffer.from([0, 255, 10, 1]);
    writeFileSync(join(folder, "dist one.p12"), bytes, { mode: 0o644 });
    const steps = `steps:
  - run: |
      echo "at=$CERT"; cmp "$CERT" "dist one.p12" && stat -c %a "$CERT"
      echo changed > "$CERT"; echo "\${{ vars.CERT }}" | cmp - <(echo "$CERT") && echo same
`;
    writeFileSync(join(folder, "p.yml"), steps);
    const named = (path: string) => ["run", "p.yml", "--file", `CERT=${path}`];
    const { stdout, code } = await runAgentCli(named("dist one.p12"), { cwd: folder }).ended;
    const path = /^at=(.*)$/m.exec(stdout)?.[1] ?? "";
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("\n600\nsame\n") });
    expect(path).toMatch(/\/files\/1\/dist one\.p12$/);
    expect(path.startsWith(folder)).toBe(false);
    expect(existsSync(path)).toBe(false);
    expect(readFileSync(join(folder, "dist one.p12"))).toEqual(bytes);
    const missing = await runAgentCli(named("nothing"), { cwd: folder }).ended;
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot read nothing (ENOENT)") });
    writeFileSync(join(folder, "large"), Buffer.alloc(48 * 1024 + 1));
    const large = await runAgentCli(named("large"), { cwd: folder }).ended;
    expect(large).toMatchObject({ code: 2, stderr: expect.stringContaining("larger than 48 KiB") });
  });

  it("describes mistakes in a command file, and fails the step", async () => {
    const { stdout, code } = await run('steps:\n  - run: echo "no equals sign" >> "$MILLRACE_OUTPUT"\n');
    expect(stdout).toContain("$MILLRACE_OUTPUT, line 1: must be NAME=value");
    expect(code).toBe(1);
  });

  it("removes folders that their owner made read-only", async () => {
    const before = await run('steps:\n  - run: dirname $(dirname "$MILLRACE_OUTPUT")\n');
    const path = before.stdout.split("\n")[1] ?? "";
    expect(path).toContain("build-");
    expect(existsSync(path)).toBe(false);
    const { stdout, folder } = await run(
      'steps:\n  - run: mkdir -p "$(dirname "$MILLRACE_OUTPUT")/a/b"; cd "$(dirname "$MILLRACE_OUTPUT")"; pwd; touch a/b/c; chmod 500 a/b a\n',
    );
    expect(existsSync((stdout.split("\n")[1] ?? folder) as string)).toBe(false);
  });

  it("compares the folder, including uncommitted files, with its branch's start on the default branch", async () => {
    const file = `steps:
  - { if: "changed('docs/**')", run: echo docs }
  - { if: "changed('src/**')", run: echo src }
  - { if: "changed('new/**')", run: echo new }
  - run: echo "base $MILLRACE_BASE"
`;
    const repository = testRepository({ "p.yml": file, "docs/a": "1", "src/a": "1", ".gitignore": "src/ignored\n" });
    const fork = repository.git("rev-parse", "HEAD");
    const output = async () => (await runAgentCli(["run", "p.yml"], { cwd: repository.folder }).ended).stdout;
    expect(await output()).not.toMatch(/^(?:docs|src|new)$/m);
    repository.git("checkout", "--quiet", "-b", "feature");
    repository.commit({ "docs/a": "2" });
    repository.git("checkout", "--quiet", "main");
    repository.commit({ "src/a": "2" });
    repository.git("checkout", "--quiet", "feature");
    mkdirSync(join(repository.folder, "new"));
    writeFileSync(join(repository.folder, "new/a"), "1");
    writeFileSync(join(repository.folder, "src/ignored"), "1");
    const told = await output();
    expect(told).toContain(`\nbase ${fork}\n`);
    expect(told.match(/^(?:docs|src|new)$/gm)).toEqual(["docs", "new"]);
    const { stdout } = await run(file);
    expect(stdout.match(/^(?:docs|src|new)$/gm)).toEqual(["docs", "src", "new"]);
  });
});

describe("check FILE", () => {
  it("prints every mistake with its position", async () => {
    const folder = testFolder();
    writeFileSync(join(folder, "bad.yml"), "steps:\n  - rnu: echo\n    shell: fish\n");
    const { code, stdout } = await runAgentCli(["check", "bad.yml"], { cwd: folder }).ended;
    expect(code).toBe(1);
    expect(stdout).toMatch(/^bad\.yml:2:5: .*`run`/m);
    expect(stdout).toMatch(/^bad\.yml:3:12: /m);
  });

  it("accepts a valid file, and names one that is missing or not UTF-8", async () => {
    const folder = testFolder();
    writeFileSync(join(folder, "good.yml"), "steps:\n  - run: echo\n");
    expect((await runAgentCli(["check", "good.yml"], { cwd: folder }).ended).code).toBe(0);
    expect(await runAgentCli(["check", "gone.yml"], { cwd: folder }).ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("cannot read gone.yml (ENOENT)"),
    });
    writeFileSync(join(folder, "utf16.yml"), Buffer.from("\ufeffsteps: []\n", "utf16le"));
    expect(await runAgentCli(["check", "utf16.yml"], { cwd: folder }).ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("utf16.yml is not UTF-8"),
    });
  });
});

describe("the command line", () => {
  it.each([
    [["bogus"], /unknown command/],
    [["register", "--url", "https://mill.example"], /--token-file/],
    [
      ["register", "--url", "http://mill.example", "--token-file", "-", "--name", "x"],
      /http:\/\/ only for this machine/,
    ],
    [["run", "p.yml", "--env", "1=2"], /NAME=value/],
    [["start", "--grace", "soon"], /whole number/],
    [["start", "--run-as", "root"], /--run-as/],
    [["start", "--run-as", "no-such-user"], /--run-as/],
    [["start", "--run-as", "a;b"], /--run-as must be the name/],
  ])("rejects %j as invalid usage", async (args, word) => {
    const state = ["register", "start"].includes(args[0] ?? "") ? ["--state", join(testFolder(), "s")] : [];
    const { code, stderr } = await runAgentCli([...args, ...state], { input: "token" }).ended;
    expect(stderr).toMatch(word);
    expect(code).toBe(2);
  });

  it("lists the exit codes in its help", async () => {
    const { code, stdout } = await runAgentCli(["--help"]).ended;
    expect(code).toBe(0);
    const listed = stdout.slice(stdout.indexOf("Exit codes:"));
    for (const exitCode of Object.values(EXIT)) expect(listed).toMatch(new RegExp(`\\b${exitCode} \\w+`));
  });

  it.each(["register", "run"])("shows no empty default in the help of %s", async (name) => {
    const { stdout } = await runAgentCli([name, "--help"]).ended;
    expect(stdout).toContain("Options:");
    expect(stdout).not.toMatch(/default: (?:\[\]|\{\})/);
  });
});
