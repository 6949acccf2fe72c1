import type { Build } from "../../../src/protocol/build.ts";
import { type Job, LEASE_HEADER } from "../../../src/protocol/jobs.ts";
import { LOG, type RegisteredAgent, SAID } from "./build-requests.ts";
import type { KeepAliveClient } from "./keep-alive.ts";

const JOBS = 24;
/** Number of jobs with two failed tests each. */
const FAILING = 3;
const COMMIT = "0123456789".repeat(4);

const FILE = [
  "jobs:",
  ...Array.from({ length: JOBS }, (_, index) => `  job-${index}: { steps: [{ run: make }, { run: make test }] }`),
].join("\n");

const failedTest = (number: number) => ({
  ...{ id: number.toString(16).padStart(16, "0"), suite: "math", className: "Sum", name: `adds ${number}` },
  ...{ file: "test/sum.ts", line: 7, seconds: 0.5, outcome: "failed", tries: 1, isFlaky: false },
  ...{
    message: `expected ${number} to be 2`,
    text: `AssertionError: expected ${number} to be 2\n  at test/sum.ts:7:3`,
  },
});

const reportOf = (index: number) => ({
  counts: { total: 200, failed: 2, skipped: 0, flaky: 0, seconds: 12.5 },
  warnings: [],
  tests: [failedTest(2 * index), failedTest(2 * index + 1)],
});

const stepsOf = (isRed: boolean) => {
  const [startedAt, finishedAt] = [new Date(Date.now() - 2_000).toISOString(), new Date().toISOString()];
  const step = (name: string, status: string, logOffset: number) => {
    return { id: null, name, status, exitCode: status === "failed" ? 1 : 0, startedAt, finishedAt, logOffset };
  };
  return [step("make", "succeeded", 0), step("make test", isRed ? "failed" : "succeeded", LOG.length)];
};

interface Maker {
  http: KeepAliveClient;
  /** The token of the person who triggers the build. */
  token: string;
  /** A pipeline whose file is in its repository. */
  pipelineId: string;
  agent: RegisteredAgent;
}

/**
 * Runs a build with 24 jobs of two steps each. If it is red, three jobs fail and report their failed tests.
 * @returns its id
 */
export const runLargeBuild = async ({ http, token, pipelineId, agent }: Maker, isRed: boolean): Promise<string> => {
  const body = JSON.stringify({ pipelineId, branch: "main" });
  const { id } = await http.request<Build>("POST", "/build", { token, body });
  for (let index = -1; index < JOBS; index++) {
    const job = await http.request<Job>("GET", `/buildagent/${agent.id}/poll?wait=0`, {
      token: agent.token,
      headers: SAID,
    });
    const headers = { [LEASE_HEADER]: String(job.lease) };
    const path = index < 0 ? `/build/${id}` : `/job/${job.job?.id}`;
    const send = (method: string, verb: string, words?: object) =>
      http.request(method, `${path}/${verb}`, { token: agent.token, headers, body: words && JSON.stringify(words) });
    await send("POST", "start");
    if (index < 0) {
      await send("PUT", "plan", { commitSha: COMMIT, path: job.pipeline.configPath, text: FILE });
      continue;
    }
    const isFailing = isRed && index < FAILING;
    await http.request("PUT", `${path}/log?offset=0&final=true`, {
      token: agent.token,
      headers: { ...headers, "Content-Type": "application/octet-stream" },
      body: `${LOG}${LOG}${isFailing ? "Error: expected 1 to be 2\n" : ""}`,
    });
    await send("POST", "progress", { commitSha: COMMIT, steps: stepsOf(isFailing) });
    if (isFailing) await send("PUT", "tests", reportOf(index));
    await send("POST", "finish", { status: isFailing ? "failed" : "succeeded", exitCode: Number(isFailing) });
  }
  return id;
};
