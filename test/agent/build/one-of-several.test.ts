import { describe, expect, it } from "vitest";
import type { Job, JobToRun } from "../../../src/protocol/jobs.ts";
import { makePlannedJob } from "../support/fake-service.ts";
import { testRepository } from "../support/repository.ts";
import { useRunningAgent } from "../support/running-agent.ts";

type Told = Partial<JobToRun> & { text?: string; change?: Partial<Job> };

const agent = useRunningAgent();
let number = 1;

/** Runs one planned job on a real agent. The build's commit has `file`; the plan came from `text`. */
const run = async (file: string, { text = file, change, ...one }: Told = {}) => {
  const repository = testRepository({ ".millrace.yml": file });
  const job = makePlannedJob(repository.cloneUrl, number++, { text, ...one }, change);
  const done = await agent.take(job);
  return { ...done, id: job.job?.id ?? "", build: job.build.id, head: repository.git("rev-parse", "HEAD") };
};

const jobs = (body: string): string => `jobs:\n  test:\n${body}`;
const STEPS = jobs("    steps:\n      - run: echo it ran\n");
/** A text with every character that some shell interprets. */
const HOSTILE = "$(touch marker)`touch marker`;touch marker #'\"\\ ${IFS}x\ttab";

describe("a planned job", () => {
  it("runs its own steps under its own id, and logs its name", async () => {
    const file = jobs(`    matrix:
      device: [phone, tablet]
    env: { OWN: "for \${{ matrix.device }}" }
    steps:
      - run: |
          echo "$OWN / $MILLRACE_JOB / $MILLRACE_JOB_KEY / $MILLRACE_JOB_NAME / $MILLRACE_MATRIX"
          echo "$MILLRACE_JOB_ID of $MILLRACE_BUILD_ID, attempt \${{ build.attempt }}"
  other:
    steps: [{ run: echo never }]
`);
    const matrix = { device: "phone" };
    const told = { key: "test (phone)", name: "On a phone", matrix, attempt: 3 };
    const { id, build, log, result, head } = await run(file, told);
    const { url } = agent.service();
    const [first] = file.match(/echo .*/) ?? [];
    expect(log).toBe(
      `Job test (phone): On a phone\nmatrix device=phone\n--- Checkout of acme/mill, main\n` +
        `This is attempt 3. The log of attempt 2: GET ${url}/job/${id}/log?attempt=2\ncommit ${head}\n` +
        `--- ${first}\nfor phone / test / test (phone) / On a phone / {"device":"phone"}\n${id} of ${build}, attempt 3\n`,
    );
    expect(result).toMatchObject({ status: "succeeded", outputs: {} });
    expect(agent.heardOf(build).requests).toEqual([]);
  });

  it.each([
    ["another text", STEPS, { text: `${STEPS}# planned from this` }],
    ["a file that the commit does not have", STEPS, { path: "gone.yml" }],
    ["another text, without a checkout", `checkout: false\n${STEPS}`, { text: STEPS }],
    ["a job that the file does not have", STEPS, { definition: "deploy" }],
    [
      "another definition than the job's",
      STEPS,
      { path: null, change: { pipeline: { name: "main", configPath: ".millrace.yml", definition: `${STEPS}#` } } },
    ],
  ])("runs nothing if its plan came from %s", async (_, file, told) => {
    const { result, log } = await run(file, told);
    expect(result).toMatchObject({ status: "failed", reason: "plan-mismatch" });
    expect(log).not.toMatch(/^it ran$/m);
    expect(log).toContain("nothing ran");
  });

  it("runs a definition that is in no commit", async () => {
    const pipeline = { name: "main", configPath: ".millrace.yml", definition: STEPS };
    const { result, log } = await run("not: [read", { text: STEPS, path: null, change: { pipeline } });
    expect(result).toMatchObject({ status: "succeeded" });
    expect(log).toContain("\nit ran\n");
  });

  it("has an empty folder without a checkout", async () => {
    const file = jobs("    checkout: false\n    steps:\n      - run: ls -A | wc -l\n");
    const { result, log } = await run(file);
    expect(result).toMatchObject({ status: "succeeded" });
    expect(log).toMatch(/\n0\n$/);
  });

  it("never lets a shell run outside texts as code", async () => {
    const file = jobs(`    needs: [before]
    matrix: { axis: [a] }
    steps:
      - run: |
          echo "1 \${{ matrix.axis }} 2 \${{ needs.before.outputs.text }} 3 $MILLRACE_JOB_KEY 4 $MILLRACE_JOB_NAME"
          printf '%s\\n' \${{ matrix.axis }}
          eval ls
  before:
    outputs: { text: x }
    steps: [{ run: echo }]
`);
    const outputs = { text: HOSTILE };
    const before = { result: "success" as const, outcome: "success" as const, outputs, jobs: [] };
    const told = { key: `test (${HOSTILE})`, name: HOSTILE, matrix: { axis: HOSTILE }, needs: { before } };
    const { result, log } = await run(file, told);
    const shown = HOSTILE.replace("\t", " ");
    expect(result).toMatchObject({ status: "succeeded" });
    expect(log).toContain(`1 ${HOSTILE} 2 ${HOSTILE} 3 test (${shown}) 4 ${shown}\n${HOSTILE}\n`);
    expect(log).not.toMatch(/^marker$/m);
  });

  it.each([
    ["in the value", 'echo "text=a-$KEY-b" >> "$MILLRACE_OUTPUT"', "${{ steps.make.outputs.text }}"],
    ["by an expression", "true", "${{ secrets.KEY }}"],
    [
      "that a step masked",
      'echo hush-hush >> "$MILLRACE_MASK"; echo text=hush-hush >> "$MILLRACE_OUTPUT"',
      "${{ steps.make.outputs.text }}",
    ],
  ])("rejects an output that contains a secret %s, and names the output", async (_, step, output) => {
    const file = jobs(`    outputs: { fine: yes, token: "${output}" }
    steps:
      - id: make
        run: |
          ${step}
`);
    const { result, log } = await run(file, { change: { env: { KEY: "s3cr3t-of-the-mill" }, secretKeys: ["KEY"] } });
    expect(result).toMatchObject({
      status: "failed",
      reason: "output-refused",
      message: expect.stringContaining("token"),
    });
    expect(result).not.toHaveProperty("outputs");
    expect(log).toContain("The output token has a secret in it");
  });

  it("reports its outputs only if it succeeded", async () => {
    const file = jobs(`    outputs: { list: "\${{ steps.make.outputs.list }}", none: "\${{ steps.make.outputs.none }}" }
    steps:
      - id: make
        run: |
          printf 'list=["api","\\\\u0000","ß"]\\nother=1\\n' >> "$MILLRACE_OUTPUT"
          \${{ matrix.end }}
`);
    const good = await run(file.replace("${{ matrix.end }}", "true"));
    expect(good.result).toMatchObject({ status: "succeeded", outputs: { list: '["api","\\u0000","ß"]', none: "" } });
    const bad = await run(file.replace("${{ matrix.end }}", "exit 4"));
    expect(bad.result).toMatchObject({ status: "failed", exitCode: 4 });
    expect(bad.result).not.toHaveProperty("outputs");
  });

  it("rejects outputs that are too large", async () => {
    const file = jobs(`    outputs: { big: "\${{ steps.make.outputs.big }}" }
    steps:
      - id: make
        run: (printf big=; head -c 70000 /dev/zero | tr '\\0' x) >> "$MILLRACE_OUTPUT"
`);
    const { result } = await run(file);
    expect(result).toMatchObject({
      status: "failed",
      reason: "output-refused",
      message: expect.stringContaining("big"),
    });
  });
});
