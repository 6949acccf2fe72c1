import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { saveIdentity } from "../../src/agent/cli/identity.ts";
import type { Job, JobToRun } from "../../src/protocol/jobs.ts";
import { runAgentCli } from "./support/agent-cli.ts";
import { IDENTITY, makeJobOfSeveral, startFakeService } from "./support/fake-service.ts";
import { testFolder } from "./support/folder.ts";
import { testRepository } from "./support/repository.ts";

type Told = Partial<JobToRun> & { text?: string; change?: Partial<Job> };

/** A real agent runs one job of a build whose file the commit has; `text` is what it was planned from, where it differs. */
const run = async (file: string, { text = file, change, ...one }: Told = {}, files: Record<string, string> = {}) => {
  const service = await startFakeService();
  onTestFinished(() => service.close());
  const state = join(testFolder(), "state");
  saveIdentity(state, { ...IDENTITY, url: service.url });
  const repository = testRepository({ ".millrace.yml": file, ...files });
  const job = makeJobOfSeveral(repository.cloneUrl, 1, { text, ...one }, change);
  const id = job.job?.id ?? "";
  service.jobs.push(job);
  await runAgentCli(["start", "--once", "--grace", "1", "--state", state]).ended;
  const paths = service.requests.map(({ path }) => path).filter((path) => path.startsWith("/build/"));
  return { id, job, service, head: repository.git("rev-parse", "HEAD"), paths, log: service.logs.get(id) ?? "", result: service.results[0]?.body };
};

const jobs = (body: string): string => `jobs:\n  test:\n${body}`;
const STEPS = jobs("    steps:\n      - run: echo it ran\n");

describe("a job of a build of several", () => {
  it("runs its own steps under its own id, and says which job it is", async () => {
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
    const told = { key: "test (phone)", name: "Test on a phone", matrix, attempt: 2 };
    const { id, job, log, result, paths, head } = await run(file, told);
    expect(log).toBe(
      `Job test (phone): Test on a phone\nmatrix device=phone\n--- Checkout of acme/mill, main\n` +
        `This is attempt 3. The log of attempt 2: GET ${job && new URL(paths[0] ?? "", "http://x").origin && ""}`,
    );
    expect({ id, result, head, log }).toBe(1);
  });
});
void execFileSync; void STEPS;
