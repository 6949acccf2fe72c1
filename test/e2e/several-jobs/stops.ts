import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Explanation } from "../../../src/protocol/explain.ts";
import type { Pipeline } from "../../../src/protocol/pipeline.ts";
import { Project, type Stage, soon } from "./stage.ts";

const LONG = `jobs:
  database:
    requires: { ios: true }
    steps: [{ run: 'echo made > "$HERE/database"' }]
  test:
    needs: [database]
    requires: { android: true }
    steps: [{ run: 'setsid sleep 1000 & echo $! > "$HERE/pids"; echo $$ >> "$HERE/pids"; wait' }]
  other:
    needs: [database]
    requires: { labels: [nobody-has-it] }
    steps: [{ run: exit 1 }]
  publish:
    needs: [test]
    steps: [{ run: 'echo published > "$HERE/published"' }]
  clean:
    needs: [test, other]
    if: always()
    checkout: false
    steps: [{ run: 'echo "after \${{ needs.test.result }}" > "$HERE/clean"' }]
`;

const DEPLOY = `jobs:
  deploy:
    concurrency: { group: "Production-\${{ build.branch }}" }
    steps: [{ run: 'echo "$MILLRACE_BUILD_ID" >> "$HERE/began"; while [ ! -e "$HERE/go" ]; do sleep 0.05; done' }]
`;

/** Reports whether a process is alive, not merely a zombie. */
const runs = (pid: string): boolean => {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && !/\) [ZX] /.test(readFileSync(stat, "utf8"));
};

/** Tests stopped builds, and jobs that block each other. */
export const stops = (stage: Stage): void => {
  it("is canceled with all its running and waiting jobs, and cleans up", async () => {
    const app = await Project.connect(stage, LONG);
    const run = await app.trigger();
    await soon(() => expect(app.lines("pids")).toHaveLength(2));
    await run.see({ test: "running", other: "queued", publish: "waiting", clean: "waiting" });
    await run.act("cancel");
    const { by, ...build } = await run.end();
    expect(build).toMatchObject({ status: "canceled" });
    expect(by.database).toMatchObject({ status: "succeeded" });
    for (const key of ["test", "other", "publish"]) expect(by[key], key).toMatchObject({ status: "canceled" });
    expect(by.clean).toMatchObject({ status: "succeeded" });
    expect(app.lines("clean")).toEqual(["after cancelled"]);
    expect(app.lines("published")).toEqual([]);
    for (const pid of app.lines("pids")) expect(runs(pid)).toBe(false);
  });

  it("waits for another pipeline's job that holds its concurrency group", async () => {
    const { client } = stage;
    const app = await Project.connect(stage, DEPLOY);
    const body = { repoId: app.repository.id, name: "second" };
    const second = await client.call<Pipeline>("POST", "/pipeline", body);
    const first = await app.trigger();
    await soon(() => expect(app.lines("began")).toEqual([first.id]));
    const waiting = await app.trigger({ pipelineId: second.id });
    await waiting.see({ deploy: "queued" });
    const { id } = await waiting.job("deploy");
    const explained = await client.call<Explanation>("GET", `/job/${id}/explain`);
    expect(explained).toMatchObject({ status: "queued", code: "group" });
    app.mark("go");
    expect(await first.end()).toMatchObject({ status: "succeeded" });
    expect(await waiting.end()).toMatchObject({ status: "succeeded" });
    expect(app.lines("began")).toEqual([first.id, waiting.id]);
    const [before, after] = [await first.job("deploy"), await waiting.job("deploy")];
    expect(Date.parse(after.startedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(before.finishedAt ?? ""));
  });
};
