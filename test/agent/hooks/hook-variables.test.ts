import { readdirSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JobHooks } from "../../../src/agent/hooks/job-hooks.ts";
import { hookEnvironment, hookVariables, variablesIn } from "../../../src/agent/steps/step-environment.ts";
import { JobAnswer } from "../../../src/agent/wire/answers.ts";
import { IDENTITY, makeJob, makePlannedJob } from "../support/fake-service.ts";
import { testFolder } from "../support/folder.ts";
import { keptLog, writeHooks } from "./support/hooks.ts";

const AGENT = { ...IDENTITY, url: "http://service" };
const SECRET = { env: { TOKEN: "hunter22", PLAIN: "p" }, secretKeys: ["TOKEN"] };
const jobOn = (branch: string) => {
  const job = makeJob("file:///none", 1, SECRET);
  return JobAnswer.parse({ ...job, build: { ...job.build, branch } });
};

describe("a hook's variables", () => {
  it("contain the job's names, but no variable, secret or credential", () => {
    const credential = { kind: "https-token", username: null, value: "hunter33" };
    const job = jobOn("main");
    const variables = hookVariables({ ...job, repository: { ...job.repository, credential } as never }, AGENT);
    expect(variables).toMatchObject({
      ...{ MILLRACE_BUILD_NUMBER: "1", MILLRACE_BRANCH: "main", MILLRACE_REPOSITORY: "acme/mill" },
      ...{ MILLRACE_AGENT_NAME: "wheel", MILLRACE_PIPELINE: "main" },
    });
    expect(JSON.stringify(variables)).not.toMatch(/hunter|TOKEN|PLAIN|mra_/);
    expect(Object.keys(variables).every((name) => /^MILLRACE_[A-Z_]+$/.test(name))).toBe(true);
    expect(variablesIn(JSON.stringify(variables))).toEqual(variables);
  });

  it("contain the names of a job in a build with several jobs", () => {
    const one = { text: "", key: "test (a\nb)", matrix: { x: "\u0000$(touch x)" } };
    const variables = hookVariables(JobAnswer.parse(makePlannedJob("file:///none", 2, one)), AGENT);
    expect(variables).toMatchObject({ MILLRACE_JOB_KEY: "test (a b)", MILLRACE_JOB: "test" });
  });

  it("contain nothing of the agent's own that steps do not get either", () => {
    const before = { ...process.env };
    Object.assign(process.env, { MILLRACE_TOKEN: "t", GIT_ASKPASS: "x", OTHER: "kept" });
    try {
      expect(hookEnvironment({ MILLRACE_HOOK: "h" })).toMatchObject({ OTHER: "kept", MILLRACE_HOOK: "h" });
      expect(Object.keys(hookEnvironment({})).filter((name) => /^(MILLRACE|GIT)_/.test(name))).toEqual([]);
    } finally {
      process.env = before;
    }
  });

  it.each(["$(touch x)", "`touch x`", "a'; touch x; '", "a\ntouch x\n", "--help", "\u0000x", "$" + "{IFS}", "\ud800"])(
    "keep %j as a value, and run nothing in it",
    async (branch) => {
      const state = testFolder();
      const folder = writeHooks(state, { "before-job": 'printf "[%s]\\n" "$MILLRACE_BRANCH"' });
      const { log, text } = keptLog();
      const variables = hookVariables(jobOn(branch), AGENT);
      const signal = new AbortController().signal;
      await new JobHooks({ state, grace: 100 }).before({ variables, log, signal }, Promise.resolve());
      expect(readdirSync(folder)).toEqual(["before-job"]);
      expect(text()).toContain(`[${branch.replaceAll(/[\x00-\x1f]/g, " ").toWellFormed()}]\n`);
    },
  );

  it("stay in one line, whatever an earlier agent's note says", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), fc.dictionary(fc.string(), fc.string()), (text, said) => {
        const read = { ...variablesIn(text), ...variablesIn(JSON.stringify({ ...said, MILLRACE_A: text })) };
        expect(read.MILLRACE_A).toBeDefined();
        for (const [name, value] of Object.entries(read)) {
          expect(name).toMatch(/^MILLRACE_[A-Z_]+$/);
          expect(value).not.toMatch(/[\x00-\x1f]/);
        }
      }),
    );
  });
});
