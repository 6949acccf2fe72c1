import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ArtifactToKeep } from "../../../src/agent/artifacts/keep-artifacts.ts";
import { endAndRemoveBuild, makeBuildFolder, removeBuildFolder } from "../../../src/agent/build/build-folder.ts";
import { BuildFailure, Cancel } from "../../../src/agent/build/failure.ts";
import { parsePlanOrFail } from "../../../src/agent/build/read-plan.ts";
import { JobLog } from "../../../src/agent/log/job-log.ts";
import { ProcessTree } from "../../../src/agent/process/process-tree.ts";
import { chownTree, findStepUser, type StepUser } from "../../../src/agent/process/step-user.ts";
import { runSteps, type StepListener } from "../../../src/agent/steps/run-steps.ts";
import type { Plan } from "../../../src/pipeline/parse/plan.ts";
import type { Step } from "../../../src/protocol/build.ts";
import { BY_REQUEST } from "../../support/build-facts.ts";
import { isRoot } from "../../support/local/named-user.ts";
import { testFolder } from "../support/folder.ts";
import { namedUser, unnamedUser } from "../support/step-user.ts";

const BUILD = crypto.randomUUID();

/** Creates a folder that a step's own user may open, like a real agent's folder with --run-as. */
const workFolder = (): string => {
  const folder = testFolder();
  chmodSync(folder, 0o711);
  return folder;
};

const runPlan = async (
  text: string,
  {
    change = (plan: Plan) => plan,
    user = null as StepUser | null,
    signal = new AbortController().signal,
    onSteps = () => {},
    prepare = (_stepFolder: string) => {},
  } = {},
) => {
  const parts: Uint8Array[] = [];
  const sink = {
    get size() {
      return Buffer.concat(parts).length;
    },
    write: (bytes: Uint8Array) => void parts.push(bytes),
  };
  const log = new JobLog([], sink, () => {});
  const folder = await makeBuildFolder(workFolder(), user);
  const tree = new ProcessTree(BUILD, { user, cgroup: folder.cgroup, folder: folder.path });
  if (user) chownTree(user, folder.workspace);
  prepare(folder.steps);
  onTestFinished(async () => {
    await endAndRemoveBuild(folder.path, user, 0);
  });
  const told = { steps: [] as Step[][], masks: [] as string[], summary: "", kept: [] as ArtifactToKeep[] };
  const listener: StepListener = {
    steps: (steps) => {
      told.steps.push(steps);
      onSteps();
    },
    masks: (masks) => void told.masks.push(...masks),
    summary: (more) => {
      told.summary += more;
    },
  };
  const running = runSteps({
    plan: change(parsePlanOrFail(text, "p.yml")),
    facts: {
      env: {},
      secretKeys: [],
      runKeys: [],
      build: { id: BUILD, number: 1, branch: "main", commit: null, message: null, attempt: 1, ...BY_REQUEST },
      repository: { id: "r", fullName: "a/b", cloneUrl: "" },
      agent: { id: "a", name: "wheel", platform: "linux" },
    },
    file: "p.yml",
    fixed: tree.env,
    abandon: new AbortController().signal,
    folder,
    tree,
    log,
    user,
    signal,
    listener,
    artifacts: {
      keep: async (artifact) => {
        told.kept.push(artifact);
        if (artifact.name === "refused") throw new BuildFailure("artifact-failed", "refused was not kept");
      },
    },
    grace: 100,
  });
  const result = await running.then(
    (value) => ({ value, error: null }),
    (error: unknown) => ({ value: null, error }),
  );
  await tree.terminate(100);
  log.flush();
  return { ...result, log: Buffer.concat(parts).toString(), told, folder, tree };
};

describe("a plan's steps", () => {
  it("stop at their time limit, and the build continues with continue-on-error", async () => {
    const shorten = (plan: Plan): Plan => {
      plan.job.steps[0]!.timeoutMinutes = 0.005;
      return plan;
    };
    const text = "steps:\n  - run: sleep 1000\n    continue-on-error: true\n  - run: echo after\n";
    const { value, log } = await runPlan(text, { change: shorten });
    expect(value).toMatchObject({ succeeded: true, exitCode: 0, message: null });
    expect(log).toMatch(/was stopped after 0\.005 minutes \(timeout-minutes\)\n--- echo after\nafter\n$/);
  });

  it("fail the build at a mistake that only a running build can find, with its position", async () => {
    const { error, told } = await runPlan("steps:\n  - run: echo one\n  - run: echo ${{ GONE }}\n");
    expect(error).toBeInstanceOf(BuildFailure);
    expect(error).toMatchObject({ reason: "pipeline-invalid", message: expect.stringMatching(/^p\.yml:3:\d+: /) });
    expect(told.steps.at(-1)?.map(({ status }) => status)).toEqual(["succeeded", "failed"]);
  });

  it("run with always() after a mistake, which is in its step's log", async () => {
    const { error, log, told } = await runPlan(
      "steps:\n  - run: echo ${{ GONE }}\n  - run: echo never\n  - { if: always(), run: echo cleaned }\n  - { if: failure(), name: '${{ WRONG }}', run: x }\n",
    );
    expect(error).toMatchObject({ reason: "pipeline-invalid", message: expect.stringMatching(/^p\.yml:2:\d+: /) });
    expect(told.steps.at(-1)?.map(({ status }) => status)).toEqual(["failed", "skipped", "succeeded", "failed"]);
    expect(log).toMatch(/^--- .*\np\.yml:2:\d+: .*\n--- echo cleaned\ncleaned\n--- x\np\.yml:5:\d+: .*\n$/);
  });

  it("have names of one line with a limited length", async () => {
    const { told, log } = await runPlan(`steps:\n  - name: "a\\n  b ${"c".repeat(300)}"\n    run: "true"\n`);
    expect(told.steps[0]?.[0]?.name).toBe(`a b ${"c".repeat(196)}`);
    expect(log).toBe(`--- a b ${"c".repeat(196)}\n`);
  });

  it("are reported while they run, each with its log's offset", async () => {
    const { told, log } = await runPlan(
      "steps:\n  - id: a\n    run: printf é\n  - if: false\n    run: echo b\n  - run: echo c\n",
    );
    expect(told.steps[0]?.map(({ id, status, logOffset }) => [id, status, logOffset])).toEqual([
      ["a", "running", 0],
      [null, "pending", null],
      [null, "pending", null],
    ]);
    const last = told.steps.at(-1) ?? [];
    expect(last.map(({ status, exitCode }) => [status, exitCode])).toEqual([
      ["succeeded", 0],
      ["skipped", null],
      ["succeeded", 0],
    ]);
    expect(
      Buffer.from(log)
        .subarray(last[2]?.logOffset ?? 0)
        .toString(),
    ).toBe("--- echo c\nc\n");
  });

  it("do not start after a cancel, except with always()", async () => {
    const stop = new AbortController();
    stop.abort(new Cancel("canceled"));
    const text =
      "steps:\n  - run: echo one\n  - if: always()\n    run: echo always\n  - if: cancelled()\n    run: echo tidy\n";
    const { error, log } = await runPlan(text, { signal: stop.signal });
    expect(error).toBe(stop.signal.reason);
    expect(log).toBe("--- echo always\nalways\n--- echo tidy\ntidy\n");
  });

  it.runIf(isRoot)("never start if they are stopped during the search for their program as their user", async () => {
    const stop = new AbortController();
    const onSteps = () => setImmediate(() => stop.abort(new Cancel("canceled")));
    const text = "steps:\n  - run: echo begun; sleep 1000\n";
    const { error, log, told } = await runPlan(text, { signal: stop.signal, onSteps, user: unnamedUser() });
    expect(error).toBe(stop.signal.reason);
    expect(log).toMatch(/^--- .*\nThe step was stopped: the build was canceled\n$/);
    expect(told.steps.at(-1)).toMatchObject([{ status: "canceled", exitCode: null }]);
  });

  it("collect a summary, and masks that apply to output in pieces", async () => {
    const text = `steps:
  - run: |
      echo "## Result" >> "$MILLRACE_SUMMARY"
      printf '<<END\\nfirst line\\nsecond line\\nEND\\n' >> "$MILLRACE_MASK"
      for c in f i r s t ' ' l i n e; do printf '%s' "$c"; done; echo
`;
    const { told, log } = await runPlan(text);
    expect(told.summary).toBe("## Result\n");
    expect(told.masks).toEqual(["first line\nsecond line"]);
    expect(log.split("\n").slice(1)).toEqual(["***", ""]);
  });

  it("may begin a command file with a byte order mark, like .NET", async () => {
    const text = `steps:
  - id: one
    run: |
      for kind in OUTPUT ENV PATH MASK SUMMARY ARTIFACT; do
        name=MILLRACE_$kind
        printf '\\357\\273\\277' > "\${!name}"
      done
      echo "word=x" >> "$MILLRACE_OUTPUT"
      echo "WORD=y" >> "$MILLRACE_ENV"
      echo "/opt/z" >> "$MILLRACE_PATH"
      echo "hush-hush-99" >> "$MILLRACE_MASK"
      echo "## Result" >> "$MILLRACE_SUMMARY"
      echo "app=a.ipa" >> "$MILLRACE_ARTIFACT"
      echo "one hush-hush-99"
  - run: echo "two hush-hush-99 \${{ steps.one.outputs.word }} $WORD \${PATH%%:*}"
`;
    const { value, told, log } = await runPlan(text);
    expect(value).toMatchObject({ succeeded: true });
    expect(log.split("\n").filter((line: string) => /^(one|two)/.test(line))).toEqual([
      "one ***",
      "two *** x y /opt/z",
    ]);
    expect(told).toMatchObject({ masks: ["hush-hush-99"], summary: "## Result\n", kept: [{ name: "app" }] });
  });

  it("store their named artifacts at their end, even after a failure", async () => {
    const steps = `steps:
  - run: |
      echo "app=build/*.ipa" >> "$MILLRACE_ARTIFACT"
      echo "app=!build/x.ipa" >> "$MILLRACE_ARTIFACT"
  - run: echo "shots=shots/" >> "$MILLRACE_ARTIFACT"; exit 3
`;
    const { told, value } = await runPlan(steps);
    const rest = { as: "files", keepDays: null, ifNone: "fail" };
    expect(told.kept).toEqual([
      { name: "app", paths: ["build/*.ipa", "!build/x.ipa"], ...rest },
      { name: "shots", paths: ["shots/"], ...rest },
    ]);
    expect(value).toMatchObject({ succeeded: false, exitCode: 3 });
  });

  it("fail the build if an artifact cannot be stored, unless they fail themselves", async () => {
    const name = 'echo "refused=x" >> "$MILLRACE_ARTIFACT"';
    const { error, told, log } = await runPlan(`steps:
  - run: ${JSON.stringify(name)}
  - run: exit 9
  - if: failure()
    run: echo the cleanup runs
`);
    expect(error).toMatchObject({ reason: "artifact-failed", message: "refused was not kept" });
    expect(told.steps.at(-1)?.map(({ status }) => status)).toEqual(["succeeded", "skipped", "succeeded"]);
    expect(log).toContain("the cleanup runs");
    const both = await runPlan(`steps: [{ run: ${JSON.stringify(`${name}; exit 4`)} }]`);
    expect(both.value).toMatchObject({ succeeded: false, exitCode: 4 });
    expect(both.log).toContain("refused was not kept");
  });

  it("fail on a line that names no artifact", async () => {
    const { value, log } = await runPlan(`steps: [{ run: 'echo "a/b=/etc/passwd" >> "$MILLRACE_ARTIFACT"' }]`);
    expect(value).toMatchObject({ succeeded: false });
    expect(log).toContain("$MILLRACE_ARTIFACT, line 1: the name of an artifact must not have any of");
    expect(log).not.toMatch(/: .*\/etc\/passwd$/m);
  });

  it("end with the agent's own error if a script cannot be written", async () => {
    const prepare = (folder: string): void => writeFileSync(join(folder, "0.sh"), "");
    expect((await runPlan("steps:\n  - run: echo x\n", { prepare })).error).toMatchObject({ code: "EEXIST" });
  });

  it("report a missing program", async () => {
    const { value, log } = await runPlan("steps:\n  - run: Write-Output x\n    shell: pwsh\n");
    const isThere = value?.succeeded === true;
    expect(isThere ? log : `${value?.exitCode} ${log}`).toMatch(
      isThere ? /x/ : /^127 .*pwsh is not installed on this agent/s,
    );
  });

  it("run as another user if the agent can switch users, and otherwise fail with advice", async () => {
    if (process.getuid?.() !== 0)
      return expect(() => findStepUser("nobody")).toThrow(/needs an agent that runs as root/);
    const user = namedUser();
    expect(findStepUser(user.name)).toEqual(user);
    const text = `steps:
  - run: |
      id -un; echo "$USER $HOME $TMPDIR"; touch mine ~/mine; mktemp > /dev/null; echo again > /dev/stderr
      echo "who=$(id -u)" >> "$MILLRACE_OUTPUT"
      setsid env -i sleep 1000 &
  - run: ls -l mine | cut -d' ' -f3; kill -0 $PPID 2> /dev/null || echo may not touch the agent
`;
    const { value, log, folder, tree } = await runPlan(text, { user });
    expect(value).toMatchObject({ succeeded: true, exitCode: 0, message: null });
    expect(log).toContain(`${user.name}\n${user.name} ${folder.path}/home ${folder.path}/tmp\nagain\n`);
    expect(log).toContain(`${user.name}\nmay not touch the agent\n`);
    expect(tree.living()).toEqual([]);
    expect(statSync(join(folder.workspace, "mine")).uid).toBe(user.uid);
    expect(statSync(folder.home).mode & 0o777).toBe(0o700);
    expect(await endAndRemoveBuild(folder.path, user, 0)).toBe(true);
    expect(existsSync(folder.path)).toBe(false);
  });
});

describe("a build's folder", () => {
  it("is new, closed to other users, and removed whatever the steps created in it", async () => {
    const work = testFolder();
    const [one, other] = [await makeBuildFolder(work, null), await makeBuildFolder(work, null)];
    expect(one.path).not.toBe(other.path);
    for (const path of [one.path, one.workspace, one.steps]) expect(statSync(path).mode & 0o077).toBe(0);
    await removeBuildFolder(one.path, null);
    expect(() => readFileSync(one.path)).toThrow(/ENOENT/);
    await removeBuildFolder(one.path, null);
    await removeBuildFolder(other.path, null);
  });
});
