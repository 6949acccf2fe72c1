import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/local/client.ts";
import { waitForEnd } from "../../src/local/demo.ts";
import type { Build } from "../../src/protocol/build.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import { type RunningAgent, startAgent } from "../support/local/agent.ts";
import { filesWith, sha256 } from "../support/local/files-with.ts";
import { connectRepository, makeRepository } from "../support/local/git-repository.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";
import { AGENT_SOURCE } from "../support/set-up/agent.ts";

let service: LocalService;
let client: Client;
let agent: RunningAgent;

beforeAll(async () => {
  service = await startLocalService();
  client = await service.newOrganization("acme");
  agent = await startAgent(client, service.folder, "one", { program: AGENT_SOURCE });
});
afterAll(async () => {
  await agent?.stop();
  await service?.remove();
});

const logOf = async (id: string): Promise<string> => {
  const response = await fetch(`${client.url}/build/${id}/log`, {
    headers: { Authorization: `Bearer ${client.token}` },
  });
  expect(response.status).toBe(200);
  return response.text();
};

/** Connects a repository with this pipeline file. */
const prepare = async (file: string, files: Record<string, string> = {}) => {
  const git = makeRepository(service.folder, { ".millrace.yml": file, ...files });
  const repository = await connectRepository(client, git);
  const pipeline = await client.call<Pipeline>("POST", "/pipeline", { repoId: repository.id, name: "ci" });
  return { git, repository, pipeline };
};

const run = async (body: object): Promise<{ build: Build; log: string }> => {
  const { id } = await client.call<Build>("POST", "/build", body);
  const build = await waitForEnd(client, id);
  return { build, log: await logOf(id) };
};

/** Reports whether a process is alive, not merely a zombie. */
const runs = (pid: string): boolean => {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && !/\) [ZX] /.test(readFileSync(stat, "utf8"));
};

const setSecret = (body: object) =>
  client.call<{ id: string }>("POST", "/secrets/variables", { isSecret: true, ...body });

describe("a build", () => {
  it("runs the commit's steps in order, with the service's variables in the environment", async () => {
    const { git, repository, pipeline } = await prepare(
      `env: { FROM_FILE: "file" }
steps:
  - name: first
    run: echo "one $CI $MILLRACE_BRANCH $FROM_FILE" && cat data.txt
  - name: second
    env: { FROM_STEP: "\${{ build.number }}" }
    working-directory: sub
    run: |
      echo "two $FROM_STEP \${{ build.branch }} $(basename "$PWD")"
`,
      { "data.txt": "the data\n", "sub/x": "" },
    );
    const { build, log } = await run({ pipelineId: pipeline.id, branch: "main" });
    expect(build, log).toMatchObject({ status: "succeeded", exitCode: 0, repoId: repository.id, attempt: 1 });
    expect(build.commitSha).toBe(git.git("rev-parse", "HEAD"));
    const lines = log.split("\n");
    expect(lines).toContain("one true main file");
    expect(lines).toContain("the data");
    expect(lines).toContain("two 1 main sub");
    expect(log.indexOf("one true")).toBeLessThan(log.indexOf("two 1"));
  });

  it("gets the value of the nearest scope, and its log shows no value, not even byte by byte", async () => {
    const file = `steps:
  - run: |
      printf %s "$KEY" | sha256sum
      env
      echo "KEY is $KEY"
      for (( i = 0; i < \${#KEY}; i++ )); do printf %s "\${KEY:i:1}"; sleep 0.01; done; echo
`;
    const { repository, pipeline } = await prepare(file);
    const group = await client.call<{ id: string }>("POST", "/secrets/groups", { name: "scopes" });
    await client.call("PUT", `/pipeline/${pipeline.id}`, { groupIds: [group.id] });
    const owners = [
      { scope: "organization", orgId: "acme" },
      { scope: "group", orgId: "acme", groupId: group.id },
      { scope: "repository", repoId: repository.id },
      { scope: "pipeline", pipelineId: pipeline.id },
    ];
    const values = owners.map(({ scope }) => `secret-of-the-${scope}-${crypto.randomUUID()}`);
    const ids: string[] = [];
    for (const [index, owner] of owners.entries()) {
      ids.push((await setSecret({ key: "KEY", value: values[index], ...owner })).id);
    }
    const ofRun = `secret-of-the-run-${crypto.randomUUID()}`;
    const expectSeen = async (body: object, value: string) => {
      const { build, log } = await run({ pipelineId: pipeline.id, branch: "main", ...body });
      expect(build, log).toMatchObject({ status: "succeeded" });
      expect(log).toContain(sha256(value));
      expect(log).toContain("KEY is ***");
      for (const secret of [...values, ofRun]) expect(log).not.toContain(secret);
      expect(log.match(/\*\*\*/g)?.length).toBeGreaterThanOrEqual(3);
    };
    await expectSeen({ envVariables: { KEY: ofRun } }, ofRun);
    for (const index of [3, 2, 1, 0]) {
      await expectSeen({}, values[index] ?? "");
      await client.call("DELETE", `/secrets/variables/${ids[index]}`);
    }
    const stored = filesWith(service.stateFolder, [...values, ofRun]);
    expect(stored).toEqual([]);
    expect(filesWith(service.stateFolder, ["KEY is ***"]).length).toBeGreaterThan(0);
    expect(filesWith(service.stateFolder, [pipeline.id]).length).toBeGreaterThan(0);
  });

  it("fails when any part of a pipe fails", async () => {
    const { pipeline } = await prepare("steps:\n  - run: false | cat\n  - run: echo not reached\n");
    const { build, log } = await run({ pipelineId: pipeline.id, branch: "main" });
    expect(build).toMatchObject({ status: "failed", exitCode: 1 });
    expect(log).not.toContain("\nnot reached");
  });

  it("never runs a branch name as a command", async () => {
    const branch = "x$(touch${IFS}marker)";
    const { git, pipeline } = await prepare(`env: { IN_FILE: "\${{ build.branch }}" }
steps:
  - env: { IN_STEP: "\${{ build.branch }}" }
    run: |
      echo \${{ build.branch }} "\${{ build.branch }}" "$IN_FILE" "$IN_STEP" "$IN_RUN" "\${{ env.IN_FILE }}" \${{ IN_RUN }}
      if ls -a "$PWD" "$PWD/.." | grep -x marker; then exit 1; fi
`);
    git.git("checkout", "--quiet", "-b", branch);
    const { build, log } = await run({ pipelineId: pipeline.id, branch, envVariables: { IN_RUN: branch } });
    expect(build, log).toMatchObject({ status: "succeeded", branch });
    expect(log).toContain(Array(7).fill(branch).join(" "));
    expect(globSync(join(service.folder, "**/marker"))).toEqual([]);
    expect(existsSync("marker")).toBe(false);
  });

  it("fails with file, line and column if its pipeline file has a mistake", async () => {
    const { pipeline } = await prepare("steps:\n  - nmae: x\n    run: echo hi\n");
    const { build, log } = await run({ pipelineId: pipeline.id, branch: "main" });
    expect(build).toMatchObject({ status: "failed", reason: "pipeline-invalid" });
    expect(`${build.message}`).toContain(".millrace.yml:2:5");
    expect(log).toContain(".millrace.yml:2:5");
  });

  it("prefers an inline definition to the file", async () => {
    const { pipeline } = await prepare("steps:\n  - run: echo from the file\n");
    await client.call("PUT", `/pipeline/${pipeline.id}`, { definition: "steps:\n  - run: echo from the definition\n" });
    const { build, log } = await run({ pipelineId: pipeline.id, branch: "main" });
    expect(build.status).toBe("succeeded");
    expect(log).toContain("from the definition");
  });

  it("fails with a clear message if the commit is not on the branch", async () => {
    const { git, pipeline } = await prepare("steps:\n  - run: echo hi\n");
    git.git("checkout", "--quiet", "-b", "side");
    git.git("commit", "--quiet", "--allow-empty", "--message", "aside");
    const commitSha = git.git("rev-parse", "HEAD");
    const { build } = await run({ pipelineId: pipeline.id, branch: "main", commitSha });
    expect(build).toMatchObject({ status: "failed", reason: "commit-not-on-branch" });
  });

  it("ends all its processes when it is canceled", async () => {
    const pidFile = join(service.folder, "pids");
    const { pipeline } = await prepare(`steps:
  - run: |
      setsid sleep 1000 & echo $! > ${pidFile}
      sleep 1000 & echo $! >> ${pidFile}
      echo ready; wait
`);
    const { id } = await client.call<Build>("POST", "/build", { pipelineId: pipeline.id, branch: "main" });
    await expect.poll(() => logOf(id)).toContain("ready");
    const canceling = await client.call<Build>("POST", `/build/${id}/cancel`);
    expect(canceling.status).toBe("canceling");
    expect(await waitForEnd(client, id)).toMatchObject({ status: "canceled" });
    const pids = readFileSync(pidFile, "utf8").trim().split("\n");
    expect(pids).toHaveLength(2);
    for (const pid of pids) expect(runs(pid)).toBe(false);
  });
});

describe("a C project, built by make", () => {
  const FILE = "steps:\n  - { name: Build, run: make -j2 sum }\n  - { name: Check, run: make check }\n";
  const FILES = {
    Makefile: "CFLAGS = -Wall -Werror\ncheck: sum\n\t./sum\nsum: main.o sum.o\n\t$(CC) -o $@ $^\n",
    "sum.h": "int sum(int a, int b);\n",
    "sum.c": '#include "sum.h"\nint sum(int a, int b) { return a + b; }\n',
    "main.c":
      '#include <stdio.h>\n#include "sum.h"\nint main(void) { printf("sum is %d\\n", sum(2, 3)); return sum(2, 3) != 5; }\n',
  };

  it("succeeds unchanged, and fails when its test fails", async () => {
    const { git, pipeline } = await prepare(FILE, FILES);
    const green = await run({ pipelineId: pipeline.id, branch: "main" });
    expect(green.build, green.log).toMatchObject({ status: "succeeded" });
    expect(green.log).toContain("\nsum is 5\n");
    writeFileSync(join(git.work, "sum.c"), FILES["sum.c"].replace("a + b", "a - b"));
    git.git("commit", "--quiet", "--all", "--message", "Break it");
    const red = await run({ pipelineId: pipeline.id, branch: "main" });
    expect(red.build).toMatchObject({ status: "failed", exitCode: 2, steps: [{ exitCode: 0 }, { exitCode: 2 }] });
    expect(red.log).toContain("\nsum is -1\n");
  });
});
