import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { agentProgram, importerProgram } from "../../../src/assets/programs.ts";
import { parseFile } from "../../../src/pipeline/parse/parse.ts";
import { runAgentCli } from "../support/agent-cli.ts";
import { testFolder } from "../support/folder.ts";

const [agent, importer] = await Promise.all([agentProgram(), importerProgram()]);

const GOOD =
  "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: make\n";
const MARKED = `${GOOD}      - uses: a/b@v1\n`;

/** Creates a folder with the two programs and a workflow. */
const folderWith = (workflow: string | Uint8Array, importerText: string | null = importer.text): string => {
  const folder = testFolder();
  writeFileSync(join(folder, "agent.mjs"), agent.text);
  if (importerText !== null) writeFileSync(join(folder, "importer.mjs"), importerText);
  writeFileSync(join(folder, "ci.yml"), workflow);
  return folder;
};

const run = (folder: string, ...args: string[]) =>
  runAgentCli(["import", ...args], { program: join(folder, "agent.mjs"), cwd: folder }).ended;

describe("import", () => {
  it("prints a pipeline file that check accepts", async () => {
    const { code, stdout, stderr } = await run(folderWith(GOOD), "ci.yml");
    expect({ code, mistakes: parseFile(stdout).mistakes }).toEqual({ code: 0, mistakes: undefined });
    expect(stdout).toContain("- run: make");
    expect(stderr).toContain("translated completely");
  });

  it("reads actions and versions beside the workflow, and follows no links", async () => {
    const folder = folderWith(GOOD);
    const uses = (action: string) => `      - uses: ./${action}\n`;
    const file = (path: string, text: string) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    const action = (run: string) => `runs: { using: composite, steps: [{ run: ${run}, shell: bash }] }\n`;
    file("outside/action.yml", action("outside"));
    file("repo/.github/workflows/ci.yml", GOOD + uses("a") + uses("linked") + uses("folder") + uses("../outside"));
    file("repo/a/action.yml", action("inside"));
    mkdirSync(join(folder, "repo/linked"));
    symlinkSync(join(folder, "outside/action.yml"), join(folder, "repo/linked/action.yml"));
    symlinkSync(join(folder, "outside"), join(folder, "repo/folder"));
    const { code, stdout } = await run(folder, "repo/.github/workflows/ci.yml");
    expect(code).toBe(0);
    expect(stdout).toContain("run: inside");
    expect(stdout).not.toContain("run: outside");
    expect(stdout.match(/its file was not found/g)).toHaveLength(3);
  });

  it("writes the file, but never overwrites one", async () => {
    const folder = folderWith(MARKED);
    const first = await run(folder, "ci.yml", "--output", ".millrace.yml");
    expect(first).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringContaining("1 mark (# import:) to review, about 5 minutes of work; next: check"),
    });
    const written = readFileSync(join(folder, ".millrace.yml"), "utf8");
    expect(written).toContain("# import: a/b: ");
    const checked = await runAgentCli(["check", ".millrace.yml"], { program: join(folder, "agent.mjs"), cwd: folder })
      .ended;
    expect(checked.code).toBe(0);
    writeFileSync(join(folder, "ci.yml"), GOOD);
    expect(await run(folder, "ci.yml", "--output", ".millrace.yml")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("EEXIST"),
    });
    expect(readFileSync(join(folder, ".millrace.yml"), "utf8")).toBe(written);
  });

  it("gives advice if the importer is missing or from another release", async () => {
    const lacking = await run(folderWith(GOOD, null), "ci.yml");
    expect(lacking).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("download /importer.mjs") });
    const other = await run(folderWith(GOOD, 'export const version = "0.0.1";'), "ci.yml");
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining("is release 0.0.1") });
  });

  it("explains itself with --help", async () => {
    const { code, stdout } = await run(folderWith(GOOD), "--help");
    expect(code).toBe(0);
    expect(stdout).toContain("# import:");
    expect(stdout).toContain("Exit codes: 0");
  });

  it("requires an existing file", async () => {
    const folder = folderWith(GOOD);
    mkdirSync(join(folder, "sub"));
    expect(await run(folder, "other.yml")).toMatchObject({ code: 2, stderr: expect.stringContaining("ENOENT") });
    expect(await run(folder, "sub")).toMatchObject({ code: 2, stderr: expect.stringContaining("EISDIR") });
    expect(await run(folder)).toMatchObject({ code: 2 });
  });

  const bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"];
  for (let level = 0; level < 9; level++) {
    const [name, before] = ["bcdefghij"[level], "abcdefghi"[level]];
    bomb.push(`${name}: &${name} [${Array(9).fill(`*${before}`).join(", ")}]`);
  }
  const REFUSED: [what: string, workflow: string | Uint8Array, message: string][] = [
    ["nothing", "", "it is not a workflow"],
    ["text", "hello", "it is not a workflow"],
    ["a list", "- a\n- b\n", "it is not a workflow"],
    ["bytes that are not text", Uint8Array.of(0, 255, 254, 1, 10, 58, 0), "cannot import"],
    ["invalid YAML", "on: [push\njobs: }", "it is not valid YAML, at line"],
    ["several documents", `${GOOD}---\n${GOOD}`, "it has several documents"],
    ["a file of 10 MB", `# ${"x".repeat(10_000_000)}\n${GOOD}`, "too large"],
    ["a long file", `# ${"x".repeat(300_000)}\n${GOOD}`, "more than 262,144 characters"],
    ["a deeply nested file", `${GOOD}env: ${"[".repeat(5000)}`, "nested too deeply"],
    ["an alias bomb", `${bomb.join("\n")}\n${GOOD}`, "its aliases expand to more"],
    ["a reusable workflow", GOOD.replace("push", "workflow_call"), "that other workflows call"],
    ["an action", "name: x\nruns:\n  using: composite\n  steps: [{ run: ls, shell: bash }]\n", "it is an action"],
    [
      "a workflow that GitHub rejects",
      GOOD.replace("run: make", "runn: make"),
      "line 7, column 9: Unexpected value 'runn'",
    ],
    ["circular needs", GOOD.replace("    steps", "    needs: a\n    steps"), "GitHub would reject it"],
    ["no jobs", "on: push\njobs: {}\n", "GitHub would reject it"],
  ];

  it.each(REFUSED)("rejects %s with a message", async (_, workflow, message) => {
    const folder = folderWith(workflow);
    const { code, stdout, stderr } = await run(folder, "ci.yml", "--output", "out.yml");
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: "", stderr: expect.stringContaining(message) });
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(existsSync(join(folder, "out.yml"))).toBe(false);
  });

  it("passes on no characters of a hostile workflow that would end a comment or control the terminal", async () => {
    const hostile = `${GOOD}      - uses: "a/b@v1\\u001B[2J\\u0085run: evil\\u2028x"\n        name: "\\u001B[31m"\n`;
    const { code, stdout } = await run(folderWith(hostile), "ci.yml");
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/[\u001B\u0085\u2028]/);
    expect(parseFile(stdout).value?.plan.jobs?.[0]?.job.steps).toHaveLength(2);
  });
});

describe("the importer's file", () => {
  it("is separate from the agent's file, which contains nothing of GitHub's parser", () => {
    const hasParser = (packages: string[]) => packages.some((one) => one.endsWith("/@actions/workflow-parser"));
    expect([hasParser(importer.packages), hasParser(agent.packages)]).toEqual([true, false]);
    expect(agent.text).not.toContain("convertWorkflowTemplate");
  });

  it("has the same bytes in every build", async () => {
    expect((await importerProgram()).text).toBe(importer.text);
  });

  it("imports only Node's own modules", () => {
    expect([...importer.text.matchAll(/^(?:import\b|}\s*from\b).*/gm)].map(([line]) => line)).toEqual([
      'import { createRequire as __createRequire } from "node:module";',
    ]);
  });
});
