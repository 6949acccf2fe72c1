import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBeside } from "../../../src/agent/cli/local-run.ts";
import { runAgentCli } from "../support/agent-cli.ts";
import { testFolder } from "../support/folder.ts";
import { testRepository } from "../support/repository.ts";

const RUN = "steps: [{ run: echo included }]\n";
const INCLUDE = "steps: [{ include: ./ci/a.yml }]\n";

describe("check FILE and run FILE", () => {
  it("read included files from the repository's root, in their current state", async () => {
    const { folder } = testRepository({ "sub/p.yml": INCLUDE, "ci/a.yml": "steps: [{ run: echo committed }]\n" });
    writeFileSync(join(folder, "ci/a.yml"), RUN);
    const { stdout, code } = await runAgentCli(["run", "p.yml"], { cwd: join(folder, "sub") }).ended;
    expect({ stdout, code }).toEqual({ stdout: "--- echo included\nincluded\n", code: 0 });
    writeFileSync(join(folder, "ci/a.yml"), "steps: [{ rum: x }]\n");
    const checked = await runAgentCli(["check", "sub/p.yml"], { cwd: folder }).ended;
    expect(checked).toMatchObject({ code: 1, stdout: expect.stringMatching(/^ci\/a\.yml:1:11: `rum` is not a key/m) });
  });

  it("run the jobs of a file with its includes", async () => {
    const folder = testFolder();
    mkdirSync(join(folder, "ci"));
    writeFileSync(join(folder, "ci/a.yml"), RUN);
    writeFileSync(join(folder, "p.yml"), `jobs: { one: { ${INCLUDE.trimEnd()} } }\n`);
    const { stdout, code } = await runAgentCli(["run", "p.yml"], { cwd: folder }).ended;
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("\nincluded\n") });
  });
});

describe("a file that is included from a folder", () => {
  const filesOf = () => {
    const outside = testFolder();
    const { folder } = testRepository({ "p.yml": "", "ci/a.yml": RUN });
    writeFileSync(join(outside, "secret.yml"), "steps: [the secret]\n");
    symlinkSync(join(outside, "secret.yml"), join(folder, "link.yml"));
    symlinkSync(outside, join(folder, "behind"));
    symlinkSync("ci", join(folder, "within"));
    writeFileSync(join(folder, "large.yml"), "x".repeat(262_145));
    writeFileSync(join(folder, "latin1.yml"), Buffer.from([0xe9]));
    linkSync(join(folder, "ci/a.yml"), join(folder, "hard.yml"));
    return filesBeside(join(folder, "p.yml"));
  };

  it.each([
    ["link.yml", "leads through a symbolic link"],
    ["behind/secret.yml", "leads through a symbolic link"],
    ["within/a.yml", "leads through a symbolic link"],
    ["ci", "is not a regular file"],
    ["gone.yml", "cannot be read"],
    ["large.yml", "is larger than 262144 bytes"],
    ["latin1.yml", "is not UTF-8"],
  ])("%s is rejected: it %s", (path, problem) => {
    expect(filesOf().find(path)).toEqual({ problem: expect.stringContaining(`${path} ${problem}`) });
  });

  it("is read if it is valid", () => {
    const files = filesOf();
    expect([files.find("ci/a.yml"), files.find("hard.yml")]).toEqual([{ text: RUN }, { text: RUN }]);
    expect(files.used.map(({ path }) => path)).toContain("ci/a.yml");
  });
});
