import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Cancel } from "../../../src/agent/build/failure.ts";
import { JobHooks, MachineNotReady } from "../../../src/agent/hooks/job-hooks.ts";
import { testFolder } from "../support/folder.ts";
import { waitUntil } from "../support/wait-until.ts";
import { keptLog, writeHooks } from "./support/hooks.ts";

const STARTED = Promise.resolve();
const NEVER = new AbortController().signal;

/** Creates a state folder with these hooks, and returns functions that run them around jobs. */
const stage = (scripts: Parameters<typeof writeHooks>[1], milliseconds?: number) => {
  const state = testFolder();
  const folder = writeHooks(state, scripts);
  const hooks = new JobHooks({ state, grace: 100, ...(milliseconds === undefined ? {} : { milliseconds }) });
  const { log, text } = keptLog(["hunter22"]);
  const runBefore = (variables: Record<string, string> = {}, signal = NEVER) =>
    hooks.before({ variables, log, signal }, STARTED).then(
      () => null,
      (error: unknown) => error,
    );
  return { state, folder, hooks, text, runBefore, runAfter: (signal = NEVER) => hooks.after({ log, signal }) };
};
const notes = (state: string): string[] => readdirSync(state).filter((name) => name !== "hooks");

describe("the hooks of a machine's owner", () => {
  it("run around a job, each in a section of its log, masked, and leave no note", async () => {
    const { state, runBefore, runAfter, hooks, text } = stage({
      "before-job": 'echo "$MILLRACE_HOOK for $MILLRACE_BRANCH in $PWD" > /dev/stderr; echo hunter22',
      "after-job": 'echo "$MILLRACE_HOOK for $MILLRACE_BRANCH"',
    });
    expect(await runBefore({ MILLRACE_BRANCH: "main" })).toBeNull();
    expect(notes(state)).toEqual(["after-job-due"]);
    await runAfter();
    expect(notes(state)).toEqual([]);
    expect(hooks.trouble).toBeNull();
    expect(text()).toBe(
      `--- before-job (hook of this machine's owner)\nbefore-job for main in ${state}/hooks\n***\n` +
        "--- after-job (hook of this machine's owner)\nafter-job for main\n",
    );
  });

  it("cost nothing if there are no hooks, not even the wait for the start", async () => {
    const state = testFolder();
    const hooks = new JobHooks({ state, grace: 100 });
    const { log, text } = keptLog();
    await hooks.before({ variables: {}, log, signal: NEVER }, new Promise(() => {}));
    await hooks.after({ log, signal: NEVER });
    expect([readdirSync(state), text(), hooks.trouble]).toEqual([[], "", null]);
  });

  it("that fail before a job prevent it, and the third failure in a row is trouble", async () => {
    const { runBefore, hooks, text, folder } = stage({ "before-job": "[ -e good ] || exit 3" });
    const fails = async () => {
      const error = await runBefore();
      expect(error).toBeInstanceOf(MachineNotReady);
      expect(error).toMatchObject({ message: "this machine is not ready: the hook before-job ended with exit code 3" });
    };
    await fails();
    await fails();
    writeFileSync(join(folder, "good"), "");
    expect(await runBefore()).toBeNull();
    writeFileSync(join(folder, "before-job"), "#!/bin/sh\nexit 3\n");
    await fails();
    await fails();
    expect(hooks.trouble).toBeNull();
    await fails();
    expect(hooks.trouble).toBe("before-job failed 3 times in a row; the last time, it ended with exit code 3");
    expect(text()).toContain("before-job ended with exit code 3\n");
  });

  it("that fail after a job are trouble at once, and after-job stays due", async () => {
    const { state, runBefore, runAfter, hooks } = stage({ "after-job": "exit 9" });
    expect(await runBefore()).toBeNull();
    await runAfter();
    expect(hooks.trouble).toBe("after-job ended with exit code 9");
    expect(notes(state)).toEqual(["after-job-due"]);
  });

  it("that hang are ended with all their processes", async () => {
    const { runBefore, folder } = stage(
      { "before-job": "trap '' TERM; sleep 1000 & echo $! > pid; wait; sleep 1000" },
      1500,
    );
    const error = await runBefore();
    expect(error).toMatchObject({ message: expect.stringMatching(/before-job was stopped after 1\.5 seconds$/) });
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    await waitUntil(
      () => !existsSync(`/proc/${pid}`) || /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8")),
    );
  });

  it("that do not begin with #! or cannot run fail with a message", async () => {
    const { runBefore, folder } = stage({ "before-job": "true" });
    writeFileSync(join(folder, "before-job"), "#!/nowhere/at/all\n");
    chmodSync(join(folder, "before-job"), 0o700);
    expect(await runBefore()).toMatchObject({
      message: expect.stringMatching(/before-job ended with exit code 12[67]$/),
    });
  });

  it("stop when their job is canceled, which reports the cancel", async () => {
    const { runBefore, folder } = stage({ "before-job": "touch begun; sleep 1000" });
    const stop = new AbortController();
    const running = runBefore({}, stop.signal);
    await waitUntil(() => existsSync(join(folder, "begun")));
    stop.abort(new Cancel("canceled"));
    expect(await running).toBe(stop.signal.reason);
  });

  it("that somebody else could have changed meanwhile do not run", async () => {
    const { runBefore, runAfter, folder, hooks, state } = stage({ "before-job": "true", "after-job": "touch ran" });
    expect(await runBefore()).toBeNull();
    chmodSync(join(folder, "after-job"), 0o777);
    await runAfter();
    expect(existsSync(join(folder, "ran"))).toBe(false);
    expect(hooks.trouble).toBe(`${folder}/after-job can be written by users other than its owner (chmod go-w)`);
    expect(notes(state)).toEqual(["after-job-due"]);
    expect(await runBefore()).toMatchObject({ message: "the agent does not trust the hooks of this machine's owner" });
  });

  it("clean up after a killed agent's job at the next start, with only that job's names", async () => {
    const { state, runBefore, folder } = stage({
      "after-job": 'printf "%s|%s|%s" "$MILLRACE_BRANCH" "$X" "$PATH" > ran',
    });
    expect(await runBefore({ MILLRACE_BRANCH: "main" })).toBeNull();
    const note = join(state, "after-job-due");
    const said = JSON.parse(readFileSync(note, "utf8"));
    writeFileSync(note, JSON.stringify({ ...said, X: "1", PATH: "/evil", MILLRACE_N: 3 }));
    const next = new JobHooks({ state, grace: 100 });
    await next.recover(NEVER, []);
    expect(next.trouble).toBeNull();
    expect(readFileSync(join(folder, "ran"), "utf8")).toBe(`main||${process.env.PATH}`);
    expect(notes(state)).toEqual([]);
  });

  it("that stop with the agent are due again at its next start", async () => {
    const { state, runBefore, runAfter, folder, hooks } = stage({ "after-job": "touch begun; sleep 1000" });
    expect(await runBefore()).toBeNull();
    const stop = new AbortController();
    const running = runAfter(stop.signal);
    await waitUntil(() => existsSync(join(folder, "begun")));
    stop.abort(new Cancel("interrupted"));
    await running;
    expect([hooks.trouble, notes(state)]).toEqual([null, ["after-job-due"]]);
  });
});
