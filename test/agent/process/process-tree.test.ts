import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeBuildFolder, removeBuildFolder } from "../../../src/agent/build/build-folder.ts";
import { Cgroup } from "../../../src/agent/process/cgroup.ts";
import { processTable } from "../../../src/agent/process/process-table.ts";
import { ProcessTree, type ProcessTreeOptions, RUN_ID_VARIABLE } from "../../../src/agent/process/process-tree.ts";
import { runProcess } from "../../../src/agent/steps/step-process.ts";
import { testFolder } from "../support/folder.ts";
import { attackAs, canAttack, unnamedUser } from "../support/step-user.ts";
import { waitUntil } from "../support/wait-until.ts";

/** Starts a script as a step of `buildId`. The script writes `ready` when its children run. */
const startStep = async (
  buildId: string,
  script: string,
  known: (folder: string) => ProcessTreeOptions = () => ({}),
) => {
  const folder = testFolder();
  const tree = new ProcessTree(buildId, known(folder));
  const file = join(folder, "script");
  writeFileSync(file, `${script}\n`);
  const output = 1;
  const ended = runProcess(
    {
      argv: ["bash", "--noprofile", "--norc", "-eo", "pipefail", file],
      folder,
      missingMessage: "no folder",
      env: { PATH: process.env.PATH ?? "", [RUN_ID_VARIABLE]: buildId },
      output,
      user: null,
    },
    tree,
  );
  await waitUntil(() => existsSync(join(folder, "ready")));
  const pids = readFileSync(join(folder, "ready"), "utf8").trim().split(/\s+/).map(Number);
  return { tree, ended, folder, pids };
};

/** Returns a script. It leaves a process for each command, without the step's environment, parent, group or output. */
const hidden = (...before: string[]): string => {
  const leave = (first: string): string =>
    `env -i setsid -f bash -c '${first}; echo $$ >> '"$PWD"'/pids; exec sleep 1000 > /dev/null 2>&1'`;
  const all = `until [ "$(wc -l < pids)" = ${before.length} ]; do sleep 0.01; done; mv pids ready`;
  return ["exec 4> held; touch pids", ...before.map(leave), all].join("\n");
};

const alive = (pids: number[]): number[] => {
  const living = new Set(processTable("").map((row) => row.pid));
  return pids.filter((pid) => living.has(pid));
};

describe("a build's process tree", () => {
  it("ends children, children in their own session, and those that ignore SIGTERM", async () => {
    const { tree, ended, pids } = await startStep(
      "11111111-1111-7111-8111-111111111111",
      `sleep 1000 & a=$!
       setsid sleep 1000 & b=$!
       setsid bash -c 'trap "" TERM; echo $$ > deaf; while :; do sleep 1000; done' &
       until [ -s deaf ]; do sleep 0.01; done
       echo $$ $a $b $(cat deaf) > ready.part; mv ready.part ready; wait`,
    );
    expect(alive(pids)).toEqual(pids);
    expect(await tree.terminate(200)).toBe(true);
    expect(alive(pids)).toEqual([]);
    expect(await ended).toEqual({ code: 128 + 15, signal: "SIGTERM" });
  });

  it("ends a child that emptied its environment before it left the group", async () => {
    const { tree, pids } = await startStep(
      "22222222-2222-7222-8222-222222222222",
      `env -i setsid sleep 1000 & sleep 0.1
       echo $$ $(pgrep -P $$ -x sleep | head -1) > ready.part; mv ready.part ready; wait`,
    );
    expect(pids.length).toBe(2);
    expect(await tree.terminate(200)).toBe(true);
    expect(alive(pids)).toEqual([]);
  });

  it("finds processes that outlived their step by the run id alone, and no other run's processes", async () => {
    const one = await startStep(
      "33333333-3333-7333-8333-333333333333",
      "setsid sleep 1000 & echo $! > part; mv part ready",
    );
    const other = await startStep(
      "44444444-4444-7444-8444-444444444444",
      "setsid sleep 1000 & echo $! > part; mv part ready",
    );
    expect((await one.ended).code).toBe(0);
    expect(await new ProcessTree("33333333-3333-7333-8333-333333333333").terminate(200)).toBe(true);
    expect(alive([...one.pids, ...other.pids])).toEqual(other.pids);
    await other.tree.terminate(200);
    expect(alive(other.pids)).toEqual([]);
  });

  it("lets a step that handles SIGTERM clean up within the grace period", async () => {
    const { tree, ended, folder } = await startStep(
      "55555555-5555-7555-8555-555555555555",
      `trap 'echo tidy > tidied; exit 7' TERM
       echo $$ > ready.part; mv ready.part ready
       while :; do sleep 0.05; done`,
    );
    await tree.terminate(60_000);
    expect((await ended).code).toBe(7);
    expect(existsSync(join(folder, "tidied"))).toBe(true);
  });

  it("continues a stopped process to end it", async () => {
    const { tree, ended, pids } = await startStep(
      "66666666-6666-7666-8666-666666666666",
      "echo $$ > ready.part; mv ready.part ready; kill -STOP $$; sleep 1000",
    );
    await tree.terminate(60_000);
    expect(await ended).toEqual({ code: 128 + 15, signal: "SIGTERM" });
    expect(alive(pids)).toEqual([]);
  });

  it("ends all processes in its control group, regardless of their environment, folder and output", async () => {
    const folder = await makeBuildFolder(testFolder(), null);
    onTestFinished(() => removeBuildFolder(folder.path, null));
    const id = "77777777-7777-7777-8777-777777777777";
    const { cgroup } = folder;
    // Without a control group (on a Mac, or where this user may not create one) nothing identifies such a process.
    if (cgroup === null) return expect(Cgroup.make(folder.path)).toBeNull();
    const { pids } = await startStep(id, hidden("cd /; exec 4>&-"), () => ({ cgroup }));
    expect(new ProcessTree(id).living()).toEqual([]);
    expect(new Set(cgroup.members())).toEqual(new Set(pids));
    expect(await new ProcessTree(id, { cgroup }).terminate(100)).toBe(true);
    expect(alive(pids)).toEqual([]);
    cgroup.remove();
    expect(existsSync(cgroup.path)).toBe(false);
  });

  it.runIf(process.platform === "linux")(
    "ends a hidden process that has the build's folder or one of its files open",
    async () => {
      const id = "88888888-8888-7888-8888-888888888888";
      const script = hidden("cd /", "exec 4>&-");
      const { tree, pids, ended } = await startStep(id, script, (folder) => ({ folder }));
      await ended;
      const elsewhere = new ProcessTree(id, { folder: testFolder() });
      expect(await elsewhere.terminate(100)).toBe(true);
      expect(alive(pids)).toEqual(pids);
      expect(await tree.terminate(100)).toBe(true);
      expect(alive(pids)).toEqual([]);
    },
  );
});

describe.runIf(canAttack)("a chain of processes that fork, exit and ignore SIGTERM, as the steps' user", () => {
  /**
   * Writes a byte at every hundredth process. Its output ends with its last process. Short pauses spare the machine.
   */
  const CHAIN = `
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.setsid()
n = 0
while True:
    if os.fork():
        os._exit(0)
    time.sleep(0.0005)
    n += 1
    if n % 100 == 1:
        os.write(1, b".")
`;
  const chainOf = async () => {
    const user = unnamedUser();
    const { stdout } = attackAs(user, CHAIN);
    const ended = once(stdout, "end");
    await once(stdout, "data");
    return { user, stdout, ended };
  };

  it("survives a scan of all processes", async () => {
    const { user, stdout } = await chainOf();
    await waitUntil(() => processTable("").every(({ uid }) => uid() !== user.uid));
    await once(stdout, "data");
  });

  it("ends with all processes of that user", async () => {
    const { user, ended } = await chainOf();
    expect(await new ProcessTree("99999999-9999-7999-8999-999999999999", { user }).terminate(100)).toBe(true);
    await ended;
  });
});
