import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { processTable } from "../../src/agent/process-table.ts";
import { MARK, ProcessTree } from "../../src/agent/process-tree.ts";
import { runProcess } from "../../src/agent/step-process.ts";
import { testFolder } from "./support/folder.ts";
import { until } from "./support/until.ts";

/** Starts a script as a step of `buildId`; the script writes `ready` when its children are there. */
const startStep = async (buildId: string, script: string) => {
  const folder = testFolder();
  const tree = new ProcessTree(buildId);
  const file = join(folder, "script");
  writeFileSync(file, `${script}\n`);
  const output = 1;
  const ended = runProcess(
    {
      argv: ["bash", "--noprofile", "--norc", "-eo", "pipefail", file],
      folder,
      env: { PATH: process.env.PATH ?? "", [MARK]: buildId },
      output,
      user: null,
    },
    tree,
  );
  await until(() => existsSync(join(folder, "ready")));
  const pids = readFileSync(join(folder, "ready"), "utf8").trim().split(/\s+/).map(Number);
  return { tree, ended, folder, pids };
};

const alive = (pids: number[]): number[] => {
  const living = new Set(processTable("").map((row) => row.pid));
  return pids.filter((pid) => living.has(pid));
};

describe("the process tree of a build", () => {
  it("ends children, children in a session of their own, and those that shut their ears to SIGTERM", async () => {
    const { tree, ended, pids } = await startStep(
      "11111111-1111-7111-8111-111111111111",
      `sleep 1000 & a=$!
       setsid sleep 1000 & b=$!
       setsid bash -c 'trap "" TERM; echo $$ > deaf; while :; do sleep 1000; done' &
       until [ -s deaf ]; do sleep 0.01; done
       echo $$ $a $b $(cat deaf) > ready.part; mv ready.part ready; wait`,
    );
    expect(alive(pids)).toEqual(pids);
    expect(await tree.end(200)).toEqual([]);
    expect(alive(pids)).toEqual([]);
    expect(await ended).toEqual({ code: 128 + 15, signal: "SIGTERM" });
  });

  it("ends a child that threw its environment away before it left the group", async () => {
    const { tree, pids } = await startStep(
      "22222222-2222-7222-8222-222222222222",
      `env -i setsid sleep 1000 & sleep 0.1
       echo $$ $(pgrep -P $$ -x sleep | head -1) > ready.part; mv ready.part ready; wait`,
    );
    expect(pids.length).toBe(2);
    expect(await tree.end(200)).toEqual([]);
    expect(alive(pids)).toEqual([]);
  });

  it("finds what outlived its step, by its mark alone, and leaves those of another run be", async () => {
    const one = await startStep("33333333-3333-7333-8333-333333333333", "setsid sleep 1000 & echo $! > ready");
    const other = await startStep("44444444-4444-7444-8444-444444444444", "setsid sleep 1000 & echo $! > ready");
    expect((await one.ended).code).toBe(0);
    expect(await new ProcessTree("33333333-3333-7333-8333-333333333333").end(200)).toEqual([]);
    expect(alive([...one.pids, ...other.pids])).toEqual(other.pids);
    await other.tree.end(200);
    expect(alive(other.pids)).toEqual([]);
  });

  it("lets a step that listens to SIGTERM tidy up within the grace", async () => {
    const { tree, ended, folder } = await startStep(
      "55555555-5555-7555-8555-555555555555",
      `trap 'echo tidy > tidied; exit 7' TERM
       echo $$ > ready.part; mv ready.part ready
       while :; do sleep 0.05; done`,
    );
    await tree.end(60_000);
    expect((await ended).code).toBe(7);
    expect(existsSync(join(folder, "tidied"))).toBe(true);
  });

  it("wakes a stopped process to end it", async () => {
    const { tree, ended, pids } = await startStep(
      "66666666-6666-7666-8666-666666666666",
      "echo $$ > ready.part; mv ready.part ready; kill -STOP $$; sleep 1000",
    );
    await tree.end(60_000);
    expect(await ended).toEqual({ code: 128 + 15, signal: "SIGTERM" });
    expect(alive(pids)).toEqual([]);
  });
});
