import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAgentCli } from "../support/agent-cli.ts";
import { testFolder } from "../support/folder.ts";
import { waitUntil } from "../support/wait-until.ts";

const start = (text: string, ...more: string[]) => {
  const folder = testFolder();
  writeFileSync(join(folder, "p.yml"), text);
  return { folder, ...runAgentCli(["run", "p.yml", "--grace", "1", ...more], { cwd: folder }) };
};
const run = async (text: string, ...more: string[]) => {
  const { folder, ended } = start(text, ...more);
  return { folder, ...(await ended) };
};

const FAN = `jobs:
  after:
    needs: [make, { job: left, optional: true }]
    steps: [{ run: 'echo "after $LIST"', env: { LIST: "\${{ join(fromJSON(needs.make.outputs.list), '+') }}" } }]
  left:
    if: vars.WANTED == 'yes'
    steps: [{ run: echo never }]
  behind:
    needs: [left]
    steps: [{ run: echo never }]
  make:
    outputs: { list: "\${{ steps.find.outputs.list }}" }
    steps:
      - id: find
        run: echo 'list=["api","web"]' >> "$MILLRACE_OUTPUT"
`;

describe("run FILE with jobs", () => {
  it("runs them in the order of their needs, with outputs, and reports skipped jobs", async () => {
    const { stdout, code } = await run(FAN, "--env", "WANTED=no");
    expect(stdout.split("\n").filter((line) => !line.startsWith("---"))).toEqual(
      expect.arrayContaining([
        "left skipped: its condition is false: vars.WANTED == 'yes'",
        "behind skipped: left was skipped",
      ]),
    );
    expect(stdout).toMatch(
      /Job make\n[\s\S]*make succeeded\n[\s\S]*Job after\n[\s\S]*\nafter api\+web\nafter succeeded\n$/,
    );
    expect(stdout).not.toMatch(/^never$/m);
    expect(code).toBe(0);
  });

  it("retries a job as often as the file says, and reports each attempt", async () => {
    const file = `jobs:
  flaky:
    retry: 2
    outputs: { made: "\${{ steps.find.outputs.made }}" }
    steps:
      - id: find
        run: echo "made=\${{ build.attempt }}" >> "$MILLRACE_OUTPUT"; [ \${{ build.attempt }} = 3 ] || exit 4
  once: { steps: [{ run: exit 6 }] }
  after: { needs: [flaky], steps: [{ run: 'echo "made $MADE"', env: { MADE: "\${{ needs.flaky.outputs.made }}" } }] }
`;
    const { stdout, code } = await run(file);
    expect(stdout).toMatch(
      /\nflaky failed: starting attempt 2 of 3\n[\s\S]*\nflaky failed: starting attempt 3 of 3\n[\s\S]*\nflaky succeeded\n/,
    );
    expect(stdout).toMatch(/\nmade 3\nafter succeeded\n$/);
    expect(stdout).not.toContain("once failed: starting attempt");
    expect(code).toBe(6);
  });

  it("retries a file of steps, and exits with the last attempt's exit code", async () => {
    const file = "retry: 1\nsteps: [{ run: echo ran >> tries; exit $(wc -l < tries) }]\n";
    const { stdout, code, folder } = await run(file);
    expect(stdout).toContain("p.yml failed: starting attempt 2 of 2\n");
    expect(readFileSync(join(folder, "tries"), "utf8")).toBe("ran\nran\n");
    expect(code).toBe(2);
  });

  it("exits with the first failed job's exit code, drops dependent jobs, and runs cleanup jobs", async () => {
    const file = `jobs:
  test:
    matrix: { device: [phone, tablet] }
    steps: [{ run: '[ "$MILLRACE_MATRIX" = ''{"device":"phone"}'' ] || exit 7' }]
  release: { needs: [test], steps: [{ run: echo never }] }
  clean: { needs: [test], if: always(), checkout: false, steps: [{ run: ls -A | wc -l }] }
`;
    const { stdout, code } = await run(file);
    expect(stdout).toMatch(/^test \(tablet\) failed: Step ".*" ended with exit code 7$/m);
    expect(stdout).toMatch(/^release dropped: test \(tablet\) failed$/m);
    expect(stdout).toMatch(/\n0\nclean succeeded\n/);
    expect(code).toBe(7);
  });

  it("runs one job, or its matrix's combinations, as if its needs had succeeded", async () => {
    const file = `jobs:
  before: { steps: [{ run: exit 9 }] }
  test:
    needs: [before]
    if: "false"
    matrix: { n: [1, 2] }
    steps: [{ run: 'echo "n \${{ matrix.n }} before \${{ needs.before.result }}"' }]
`;
    const all = await run(file, "--job", "test");
    expect(all.stdout).toMatch(
      /^before: not run, treated as succeeded without outputs\n[\s\S]*\nn 1 before success\n[\s\S]*\nn 2 before success\n/,
    );
    expect(all.code).toBe(0);
    const one = await run(file, "--job", "test (2)");
    expect(one.stdout).toContain("n 2 before success");
    expect(one.stdout).not.toContain("n 1 before");
    expect((await run(file, "--job", "before")).code).toBe(9);
    expect(await run(file, "--job", "gone")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("before, test (1), test (2)"),
    });
    expect(await run("steps: [{ run: ls }]", "--job", "x")).toMatchObject({ code: 2 });
  });

  it("approves no gate without an answer, and all gates with --approve", async () => {
    const file = `jobs:
  deploy:
    gate: { message: Release it? }
    steps: [{ run: echo deployed }]
  told: { needs: [deploy], steps: [{ run: echo told }] }
`;
    const closed = await run(file);
    expect(closed.stdout).toMatch(/^deploy waits for approval: Release it\?\n.*--approve/);
    expect(closed.stdout).toMatch(/^deploy failed: its gate was not approved$/m);
    expect(closed.stdout).toMatch(/^told dropped: deploy failed$/m);
    expect(closed.code).toBe(1);
    const open = await run(file, "--approve");
    expect(open.stdout).toMatch(/\ndeployed\n[\s\S]*\ntold\n/);
    expect(open.code).toBe(0);
  });

  it("rejects an output that contains a value masked by a step", async () => {
    const file = `jobs:
  make:
    outputs: { token: "\${{ steps.find.outputs.token }}" }
    steps:
      - id: find
        run: |
          echo hush-hush >> "$MILLRACE_MASK"
          echo token=hush-hush >> "$MILLRACE_OUTPUT"
`;
    const { stdout, code } = await run(file);
    expect(stdout).toContain("make failed: The output token has a secret in it");
    expect(code).toBe(1);
  });

  it("passes files on, and keeps them in the folder of --artifacts", async () => {
    const file = `jobs:
  make:
    matrix: { on: [a, b/c] }
    steps: [{ run: 'mkdir -p out; echo "$MILLRACE_MATRIX" > out/what; ln -sf what out/link' }]
    artifacts: [{ name: files, path: out/ }, { name: tree, path: out, as: tar }, { name: none, path: x, if-none: warn }]
  use:
    needs: [make]
    checkout: false
    downloads: [{ from: make, artifact: files, to: in }, { from: make, to: all }]
    steps: [{ run: 'cat in/*/what in/b%2Fc/link; readlink all/a/tree/link' }]
`;
    const { stdout, code, folder } = await run(file, "--artifacts", "kept");
    expect(stdout).toContain('{"on":"a"}\n{"on":"b/c"}\n{"on":"b/c"}\nwhat\n');
    expect(stdout).toContain("Warning: artifact none: no file in the checkout matches x\n");
    expect(code).toBe(0);
    expect(readFileSync(join(folder, "kept/make (b%2Fc)/files/what"), "utf8")).toBe('{"on":"b/c"}\n');
    const failing = "steps: [{ run: 'true' }]\nartifacts: [{ name: app, path: gone }]\n";
    const failed = await run(failing);
    expect(failed.stderr).toContain("Cannot store artifact app: no file in the checkout matches gone");
    expect(failed.code).toBe(1);
  });

  it("stops, and runs only cleanup jobs", async () => {
    const file = `jobs:
  long: { steps: [{ run: touch here; sleep 1000 }] }
  next: { needs: [long], steps: [{ run: echo never }] }
  clean: { needs: [long], if: always(), steps: [{ run: echo done > cleaned }] }
`;
    const { folder, ended, kill } = start(file);
    await waitUntil(() => existsSync(join(folder, "here")));
    kill("SIGINT");
    const { code, stdout } = await ended;
    expect(stdout).toMatch(/^next canceled: the run was stopped$/m);
    expect(readFileSync(join(folder, "cleaned"), "utf8")).toBe("done\n");
    expect(code).toBe(130);
  });

  it("reports every mistake that planning finds", async () => {
    const { code, stderr } = await run(
      "jobs:\n  a: { needs: [b], steps: [{ run: ls }] }\n  b: { needs: [a], steps: [{ run: ls }] }\n",
    );
    expect(stderr).toMatch(/p\.yml:3:16: These jobs wait for each other/);
    expect(code).toBe(1);
  });
});
