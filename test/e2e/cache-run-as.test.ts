import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CacheEntry } from "../../src/protocol/cache.ts";
import { isRoot, makeUser, type NamedUser } from "../support/local/named-user.ts";
import { Project, type Stage, setUp, tearDown } from "./several-jobs/stage.ts";

const SECRET = "ROOT-ONLY-BYTES";

const stage = {} as Stage;
let user: NamedUser;
/** A folder that every user can enter by its path. The steps' user works in it. */
let open: string;

beforeAll(async () => {
  if (!isRoot) return;
  user = makeUser();
  open = mkdtempSync(join(tmpdir(), "mill-cache-as-"));
  chmodSync(open, 0o711);
  mkdirSync(join(open, "work"), { mode: 0o711 });
  writeFileSync(join(open, "secret"), SECRET, { mode: 0o600 });
  await setUp(stage, ["web"], ["--run-as", user.name, "--work", join(open, "work"), "--grace", "1"]);
});
afterAll(async () => {
  await tearDown(stage);
  user?.remove();
  if (open) rmSync(open, { recursive: true, force: true });
});

const fileOf = (steps: string): string => `steps:
  - run: |
      ${steps.trim().replaceAll("\n", "\n      ")}
cache:
  - { name: deps, key: one, path: deps }
`;

describe.runIf(isRoot)("a cache of a root agent with --run-as", () => {
  it("is saved and restored as the steps' user, and no step can read or change its local copy", async () => {
    const copies = join(stage.web.state, "cache");
    const project = await Project.connect(
      stage,
      fileOf(`
if [ -f deps/made ]; then echo "restored as $(stat -c %u deps deps/made deps/tool | sort -u)"; deps/tool; exit; fi
mkdir -p deps; id -u > deps/made; printf '#!/bin/sh\\necho tool runs\\n' > deps/tool; chmod 755 deps/tool`),
    );
    const first = await (await project.trigger()).endWithLog();
    expect(first.log, first.log).toMatch(/deps: saved/);
    const second = await (await project.trigger()).endWithLog();
    expect(second.log).toMatch(/deps: restored, \d+ bytes from this machine/);
    expect(second.log).toContain(`restored as ${user.uid}\n`);
    expect(second.log).toContain("tool runs\n");
    for (const name of readdirSync(copies)) expect(statSync(join(copies, name)).uid).toBe(0);

    project.commit("main", fileOf(`cat ${copies}/* && echo READ; echo x > ${copies}/planted && echo WRITTEN; true`));
    const attack = await (await project.trigger()).endWithLog();
    expect(attack.build).toMatchObject({ status: "succeeded" });
    expect(attack.log).toContain("Permission denied");
    expect(attack.log).not.toMatch(/^(READ|WRITTEN)$/m);

    rmSync(copies, { recursive: true });
    project.commit("main", fileOf("deps/tool; stat -c 'by %u' deps/tool"));
    const third = await (await project.trigger()).endWithLog();
    expect(third.log).toMatch(/deps: restored, \d+ bytes from the service, saved by main/);
    expect(third.log).toContain(`by ${user.uid}\n`);
  });

  it("follows no link out of its folder, on save or on restore", async () => {
    const secret = join(open, "secret");
    const project = await Project.connect(
      stage,
      fileOf(`
[ -e deps/kept ] && { ls -l deps; cat deps/link deps/copied; true; exit; }
mkdir -p deps; echo kept > deps/kept; ln -s ${secret} deps/link; ln -s ${open} deps/folder`),
    );
    const first = await (await project.trigger()).endWithLog();
    expect(first.build, first.log).toMatchObject({ status: "succeeded" });
    const [entry] = await stage.client.call<CacheEntry[]>("GET", `/repository/${project.repository.id}/cache`);
    expect(entry, first.log).toMatchObject({ branch: "main" });
    const second = await (await project.trigger()).endWithLog();
    expect(second.log).toContain("deps: restored");
    expect(second.log).not.toContain(SECRET);

    // The checkout has a link at the cache's path.
    project.commit("main", fileOf("ls -A deps/; true"));
    project.git.git("rm", "--quiet", "--cached", "--ignore-unmatch", "-r", "deps");
    rmSync(join(project.git.work, "deps"), { recursive: true, force: true });
    const outside = join(open, "outside");
    mkdirSync(outside, { mode: 0o777 });
    chmodSync(outside, 0o777);
    symlinkSync(outside, join(project.git.work, "deps"));
    project.git.git("add", "--all");
    project.git.git("commit", "--quiet", "--message", "Put a link in place of the folder");
    await (await project.trigger()).endWithLog();
    expect(readdirSync(outside)).toEqual([]);
  });
});
