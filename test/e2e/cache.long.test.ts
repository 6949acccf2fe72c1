import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { Project, type Stage, setUp, tearDown } from "./several-jobs/stage.ts";

/* Entries that need several parts: tens of megabytes each. */

const stage = {} as Stage;

beforeAll(() => setUp(stage, ["web"]));
afterAll(() => tearDown(stage));

describe("a cache", () => {
  it("with several parts is saved and restored whole, although its grant is rejected meanwhile", async () => {
    const file = `steps:
  - run: |
      test -f big/sum && (cd big && sha256sum -c sum) >> "$HERE/found"
      mkdir -p big && cd big && test -f sum || { head -c 75000000 /dev/urandom > bytes; sha256sum bytes > sum; }
cache:
  - { name: big, key: one, path: big }
`;
    const project = await Project.connect(stage, file);
    let refusals = 0;
    const parts = new Set<string>();
    stage.web.proxy.refuses = (made) => {
      const part = /^PUT .*\/cache\/([^/]+\/part\/\d+)$/.exec(made)?.[1];
      if (part === undefined) return null;
      parts.add(part);
      return part.endsWith("/2") && refusals++ === 0 ? 403 : null;
    };
    const first = await (await project.trigger()).endWithLog();
    stage.web.proxy.refuses = () => null;
    expect(first.log).toMatch(/big: saved, 72 MiB/);
    // One save sends all parts: the second grant continues it.
    expect([...parts].map((part) => part.slice(-1)).sort()).toEqual(["1", "2", "3"]);
    expect(new Set([...parts].map((part) => part.split("/")[0])).size).toBe(1);
    rmSync(join(stage.web.state, "cache"), { recursive: true });
    mkdirSync(join(stage.web.state, "cache"));
    const second = await (await project.trigger()).endWithLog();
    expect(second.log).toMatch(/big: restored, 72 MiB from the service, saved by main/);
    expect(project.lines("found")).toEqual(["bytes: OK"]);
  });

  it("with more than one part is saved at the service and restored from it", async () => {
    const file = `steps:
  - run: |
      test -f big && { sha256sum < big >> "$HERE/big"; exit; }
      head -c ${LIMITS.artifactPartBytes + 5_000_000} /dev/urandom > big; sha256sum < big >> "$HERE/big"
cache: [{ name: big, key: one, path: big }]
`;
    const project = await Project.connect(stage, file);
    expect((await (await project.trigger()).endWithLog()).log).toMatch(/big: saved, 3\d MiB/);
    rmSync(join(stage.web.state, "cache"), { recursive: true });
    mkdirSync(join(stage.web.state, "cache"));
    expect((await (await project.trigger()).endWithLog()).log).toMatch(/big: restored, 3\d MiB from the service/);
    const [made, restored] = project.lines("big");
    expect(restored).toBe(made);
  });
});
