import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Cancel } from "../../../src/agent/build/failure.ts";
import { runTries, type StepVerdict } from "../../../src/agent/steps/run-step.ts";
import type { Retry } from "../../../src/pipeline/parse/plan.ts";
import { testFolder } from "../support/folder.ts";
import { runPlan } from "../support/run-plan.ts";

/** Returns a script that counts its runs in a file and fails until the third. */
const flaky = (folder: string, more = ""): string => `
      n=$(( $(cat ${folder}/n 2> /dev/null || echo 0) + 1 )); echo $n > ${folder}/n
      ${more}
      [ $n -ge 3 ] || exit 7`;

describe("a step with retry", () => {
  it("runs again until it succeeds, and its record and the log show the number of tries", async () => {
    const text = `steps:\n  - name: flaky\n    retry: 4\n    run: |${flaky(testFolder(), "echo run $n")}\n  - run: echo after\n`;
    const { value, log, told } = await runPlan(text);
    expect(value).toMatchObject({ succeeded: true, exitCode: 0, message: null });
    const ended = "The step ended with exit code 7\n";
    expect(log).toBe(
      `--- flaky\nrun 1\n${ended}--- try 2 of 5\nrun 2\n${ended}--- try 3 of 5\nrun 3\n--- echo after\nafter\n`,
    );
    const [first, second] = told.steps.at(-1) ?? [];
    expect(first).toMatchObject({ status: "succeeded", exitCode: 0, tries: 3, logOffset: 0 });
    expect(second).not.toHaveProperty("tries");
    expect(told.steps.map((steps) => steps[0]?.tries)).toEqual([undefined, 2, 3, 3, 3, 3]);
  });

  it("keeps the last try's output, and all tries' masks", async () => {
    const folder = testFolder();
    const written = `
      for file in OUTPUT ENV; do eval "echo V$n=$n; echo SAME=$n" >> "$(printenv MILLRACE_$file)"; done
      echo /try$n >> "$MILLRACE_PATH"; echo "sum $n" >> "$MILLRACE_SUMMARY"; echo secret$n >> "$MILLRACE_MASK"`;
    const text = `steps:\n  - id: s\n    retry: 2\n    run: |${flaky(folder, written)}\n  - run: echo "$SAME $V1$V2$V3 $PATH secret1 secret2 secret3"\n`;
    const { value, log, told } = await runPlan(text);
    expect(value?.state.steps[0]?.outputs).toEqual({ V3: "3", SAME: "3" });
    expect(value?.state).toMatchObject({ env: { V3: "3", SAME: "3" }, path: ["/try3"] });
    expect(log).toContain(`\n3 3 /try3:${process.env.PATH} *** *** ***\n`);
    expect(told.masks).toEqual(["secret1", "secret2", "secret3"]);
    expect(told.summary).toBe("sum 3\n");
  });

  it("that fails each time fails once, with its last try's results", async () => {
    const text = `steps:
  - { id: s, retry: { times: 1 }, run: 'echo A=1 >> "$MILLRACE_OUTPUT"; echo once; exit 3' }
  - { if: failure() && steps.s.exitCode == 3 && steps.s.outputs.A == '1', run: echo told }
`;
    const { value, log, told } = await runPlan(text);
    expect(value).toMatchObject({
      succeeded: false,
      exitCode: 3,
      message: expect.stringMatching(/ended with exit code 3$/),
    });
    expect(log.match(/^once$/gm)).toHaveLength(2);
    expect(log).toContain("\ntold\n");
    expect(told.steps.at(-1)?.map(({ status, tries }) => [status, tries])).toEqual([
      ["failed", 2],
      ["succeeded", undefined],
    ]);
  });

  it("continues the build after its last try with continue-on-error, but not before", async () => {
    const { value, log } = await runPlan(
      "steps:\n  - { retry: 1, continue-on-error: true, run: exit 1 }\n  - run: echo after\n",
    );
    expect(value).toMatchObject({ succeeded: true });
    expect(log.indexOf("--- try 2 of 2")).toBeLessThan(log.indexOf("after"));
    expect(log.match(/^--- try/gm)).toHaveLength(1);
  });

  it("runs again only after the listed exit codes", async () => {
    const run = async (code: number) =>
      (await runPlan(`steps: [{ retry: { times: 1, on: [5, 6] }, run: exit ${code} }]`)).told.steps.at(-1)?.[0];
    expect(await run(6)).toMatchObject({ exitCode: 6, tries: 2 });
    expect(await run(7)).toMatchObject({ exitCode: 7 });
    expect(await run(7)).not.toHaveProperty("tries");
  });

  it("has its time limit for each try", async () => {
    const folder = testFolder();
    const text = `steps:\n  - retry: 1\n    run: if [ -e ${folder}/been ]; then echo fast; else touch ${folder}/been; sleep 1000; fi\n`;
    const { value, log } = await runPlan(text, {
      change: (plan) => {
        plan.job.steps[0]!.timeoutMinutes = 0.02;
      },
    });
    expect(value).toMatchObject({ succeeded: true });
    expect(log).toMatch(/was stopped after 0\.02 minutes \(timeout-minutes\)\n--- try 2 of 2\nfast\n$/);
  });

  it("ends its wait at a cancel, and starts no other try", async () => {
    const folder = testFolder();
    const stop = new AbortController();
    const onLog = (log: string) => log.includes("Waiting 3600 s") && stop.abort(new Cancel("canceled"));
    const text = `steps:
  - { retry: { times: 3, wait-seconds: 3600 }, run: 'echo x >> ${folder}/runs; echo A=1 >> "$MILLRACE_ENV"; exit 1' }
  - { if: always(), run: echo "cleaned$A" }
`;
    const { error, log, told } = await runPlan(text, { signal: stop.signal, onLog });
    expect(error).toBe(stop.signal.reason);
    expect(readFileSync(join(folder, "runs"), "utf8")).toBe("x\n");
    expect(log).toContain("Waiting 3600 s before the next try\nThe step was stopped: the build was canceled\n");
    expect(log).toContain("\ncleaned\n");
    expect(told.steps.at(-1)?.[0]).toMatchObject({ status: "canceled" });
  });

  it("does not run again when the build is canceled during a try", async () => {
    const stop = new AbortController();
    const onLog = (log: string) => log.includes("begun") && stop.abort(new Cancel("canceled"));
    const { log } = await runPlan("steps: [{ retry: 3, run: echo begun; sleep 1000 }]", { signal: stop.signal, onLog });
    expect(log).not.toContain("try 2");
  });

  it("finds no earlier try's file in its own folder", async () => {
    const text = `steps:\n  - retry: 1\n    run: |\n      cat "$MILLRACE_ENV" "$MILLRACE_PATH"; echo A=1 >> "$MILLRACE_ENV"; exit 1\n`;
    const { log } = await runPlan(text);
    expect(log).not.toMatch(/^A=1/m);
    expect(log.match(/ended with exit code 1/g)).toHaveLength(2);
  });
});

describe("the folders that a step adds to PATH", () => {
  it("are searched by later steps, the latest first, but not by the step itself", async () => {
    const folder = testFolder();
    const tool = (name: string, says: string): string =>
      `mkdir -p ${folder}/${name}; printf '#!/bin/sh\\necho ${says}\\n' > ${folder}/${name}/tool-of-test; chmod +x ${folder}/${name}/tool-of-test; echo ${folder}/${name} >> "$MILLRACE_PATH"`;
    const text = `steps:
  - run: ${JSON.stringify(`${tool("a", "one")}; command -v tool-of-test || echo not yet`)}
  - run: ${JSON.stringify(`tool-of-test; ${tool("b", "two")}`)}
  - run: tool-of-test
  - { env: { PATH: /usr/bin:/bin }, run: 'tool-of-test; echo "$PATH"' }
`;
    const { log, value } = await runPlan(text);
    expect(value).toMatchObject({ succeeded: true });
    const said = log.split("\n").filter((line) => line !== "" && !line.startsWith("---"));
    expect(said).toEqual(["not yet", "one", "two", "two", `${folder}/b:${folder}/a:/usr/bin:/bin`]);
  });

  it("fail a step that writes an incomplete path, without quoting it", async () => {
    const { value, log } = await runPlan(
      `steps:\n  - run: printf '/good\\nsecret-bin\\n' >> "$MILLRACE_PATH"\n  - { if: always(), run: 'echo "$PATH"' }\n`,
    );
    expect(value).toMatchObject({ succeeded: false, exitCode: 1 });
    expect(log).toContain("$MILLRACE_PATH, line 2: must be the whole path of a folder, beginning with /\n");
    expect(log).not.toMatch(/^(?!---).*secret-bin/m);
  });

  it("do not follow a link that the step puts at the file's path", async () => {
    const folder = testFolder();
    writeFileSync(join(folder, "other"), "/stolen\n");
    const { value } = await runPlan(`steps: [{ run: 'rm "$MILLRACE_PATH"; ln -s ${folder}/other "$MILLRACE_PATH"' }]`);
    expect(existsSync(join(folder, "other"))).toBe(true);
    expect(value?.state.path).toEqual([]);
  });
});

describe("the retry rule", () => {
  const retry: fc.Arbitrary<Retry | null> = fc.option(
    fc.record({
      times: fc.integer({ min: 1, max: 10 }),
      on: fc.option(fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1 })),
      waitSeconds: fc.constant(0),
    }),
  );
  const verdict: fc.Arbitrary<StepVerdict> = fc.record({
    outcome: fc.constantFrom("success", "failure", "cancelled"),
    exitCode: fc.integer({ min: 0, max: 3 }),
    ...{ outputs: fc.constant({}), env: fc.constant({}), path: fc.constant([]), summary: fc.constant("") },
    ...{ artifacts: fc.constant([]), why: fc.constant(null) },
  }) as fc.Arbitrary<StepVerdict>;

  it("never retries after a success or a cancel, or too often, and returns the last try's end", async () => {
    await fc.assert(
      fc.asyncProperty(retry, fc.array(verdict, { minLength: 11, maxLength: 11 }), async (rule, ends) => {
        const runs: number[] = [];
        const run = async (number: number) => {
          runs.push(number);
          return ends[number - 1]!;
        };
        const signal = new AbortController().signal;
        const end = await runTries(rule, { run, say: () => {}, onTry: () => {}, signal });
        const last = runs.length;
        expect(runs).toEqual(Array.from({ length: last }, (_, index) => index + 1));
        expect(end).toBe(ends[last - 1]);
        const isAgain = ({ outcome, exitCode }: StepVerdict) =>
          outcome === "failure" && (!rule?.on || rule.on.includes(exitCode!));
        expect(ends.slice(0, last - 1).every(isAgain)).toBe(true);
        if (last <= (rule?.times ?? 0)) expect(isAgain(end)).toBe(false);
        else expect(last).toBe((rule?.times ?? 0) + 1);
      }),
    );
  });
});
