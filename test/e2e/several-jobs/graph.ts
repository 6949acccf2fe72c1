import { describe, expect, it } from "vitest";
import type { Build } from "../../../src/protocol/build.ts";
import type { JobOfBuild } from "../../../src/protocol/build-job.ts";
import { Project, type Stage, statusesOf } from "./stage.ts";

/** Waits until all three run at the same time. */
const MEET = `steps:
      - id: build
        run: |
          touch "$HERE/$MILLRACE_JOB"
          for other in ios android web; do while [ ! -e "$HERE/$other" ]; do sleep 0.05; done; done
          echo "app=$MILLRACE_JOB-\${{ needs.prepare.outputs.version }}" >> "$MILLRACE_OUTPUT"`;

const APPS = `jobs:
  release:
    needs: [ios, android, web, { job: docs, optional: true }]
    checkout: false
    steps:
      - env: { DOCS: "\${{ needs.docs.result }}" }
        run: echo "with \${{ needs.ios.outputs.app }} \${{ needs.android.outputs.app }} \${{ needs.web.outputs.app }}, docs $DOCS"
  ios:
    needs: [prepare]
    requires: { platform: macos, ios: true }
    outputs: { app: "\${{ steps.build.outputs.app }}" }
    ${MEET}
  android:
    needs: [prepare]
    requires: { platform: linux, android: true }
    outputs: { app: "\${{ steps.build.outputs.app }}" }
    ${MEET}
  web:
    needs: [prepare]
    requires: { web: true }
    outputs: { app: "\${{ steps.build.outputs.app }}" }
    ${MEET}
  docs:
    if: build.branch == 'docs'
    steps: [{ run: exit 1 }]
  pages:
    needs: [docs]
    steps: [{ run: exit 1 }]
  prepare:
    outputs: { version: "\${{ steps.find.outputs.version }}" }
    steps: [{ id: find, run: 'echo "version=3.10" >> "$MILLRACE_OUTPUT"' }]
`;

const COMBINATIONS = 12;

/** In the first run, one of the 12 fails. */
const MATRIX = `jobs:
  lint:
    outputs: { word: "\${{ steps.find.outputs.word }}" }
    steps: [{ id: find, run: 'echo lint >> "$HERE/ran"; echo "word=well" >> "$MILLRACE_OUTPUT"' }]
  test:
    matrix: { node: [3.10, 24, 26], device: [phone, tablet, watch, tv] }
    max-parallel: 2
    steps:
      - run: |
          echo "$MILLRACE_JOB_KEY" >> "$HERE/ran"
          if [ "$MILLRACE_JOB_KEY" = "test (3.10, watch)" ] && [ ! -e "$HERE/mended" ]; then exit 7; fi
  publish:
    needs: [lint, test]
    steps:
      - env: { ALL: "\${{ toJSON(needs.test.jobs) }}" }
        run: echo publish >> "$HERE/ran"; echo "lint said \${{ needs.lint.outputs.word }}"; echo "$ALL" | grep -c 'result.*success'
`;

/** Returns how many jobs ran at the same moment, by their own times. */
const mostAtOnce = (jobs: JobOfBuild[]): number => {
  const time = (at: string | null): number => Date.parse(at ?? "");
  const moments = jobs.map(({ startedAt }) => time(startedAt));
  const runningAt = (moment: number) =>
    jobs.filter(({ startedAt, finishedAt }) => time(startedAt) <= moment && moment < time(finishedAt)).length;
  return Math.max(...moments.map(runningAt));
};

/** Tests fan-out, fan-in, matrices, and retries of failed jobs. */
export const graph = (stage: Stage): void => {
  it("runs on macOS, Linux and web agents at the same time, and joins their results", async () => {
    const app = await Project.connect(stage, APPS);
    const run = await app.trigger();
    const { by, ...build } = await run.end();
    expect(statusesOf(build)).toEqual({
      ...{ prepare: "succeeded", ios: "succeeded", android: "succeeded", web: "succeeded", release: "succeeded" },
      ...{ docs: "skipped", pages: "skipped" },
    });
    expect(build).toMatchObject({ status: "succeeded", commitSha: app.git.git("rev-parse", "HEAD"), waitsFor: [] });
    expect([by.ios?.agentId, by.android?.agentId, by.web?.agentId]).toEqual([
      stage.mac.id,
      stage.android.id,
      stage.web.id,
    ]);
    expect(by.pages).toMatchObject({ cause: { kind: "need-skipped", job: "docs" }, agentId: null });
    const log = await run.logOf("release");
    expect(log).toContain("with ios-3.10 android-3.10 web-3.10, docs skipped");
    const ends = [by.ios, by.android, by.web].map((job) => Date.parse(job?.finishedAt ?? ""));
    expect(Date.parse(by.release?.startedAt ?? "")).toBeGreaterThanOrEqual(Math.max(...ends));
  });

  describe("with a matrix of 12", () => {
    let app: Project;
    let first: Build;

    it("runs at most `max-parallel` combinations at once, and fails if one fails", async () => {
      app = await Project.connect(stage, MATRIX);
      const run = await app.trigger();
      const { by, ...build } = await run.end();
      first = build;
      expect(build.jobs).toHaveLength(COMBINATIONS + 2);
      expect(build).toMatchObject({ status: "failed", exitCode: 7 });
      expect(by["test (3.10, watch)"]).toMatchObject({ status: "failed", exitCode: 7 });
      expect(by.publish).toMatchObject({
        status: "dropped",
        cause: { kind: "need-failed", job: "test (3.10, watch)" },
      });
      const tests = (build.jobs ?? []).filter(({ definition }) => definition === "test");
      expect(tests).toHaveLength(COMBINATIONS);
      expect(mostAtOnce(tests)).toBe(2);
      expect(app.lines("ran").sort()).toEqual(["lint", ...tests.map(({ key }) => key)].sort());
    });

    it("retries the failed combination and the dropped jobs, and keeps the other results", async () => {
      const before = app.lines("ran").length;
      app.mark("mended");
      const { id } = await app.run(first.id).act("retry", { only: "failed" });
      const again = app.run(id);
      const { by, ...build } = await again.end();
      expect(build).toMatchObject({ status: "succeeded", retryOf: first.id, commitSha: first.commitSha });
      expect(app.lines("ran").slice(before)).toEqual(["test (3.10, watch)", "publish"]);
      const adopted = (build.jobs ?? []).filter(({ adoptedFrom }) => adoptedFrom === first.id);
      expect(adopted).toHaveLength(COMBINATIONS);
      expect(by.publish?.adoptedFrom).toBeNull();
      const log = await again.logOf("publish");
      expect(log).toContain("lint said well");
      expect(log).toMatch(/^12$/m);
      expect(await app.run(first.id).get()).toEqual(first);
    });
  });
};
