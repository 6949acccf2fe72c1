import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/local/client.ts";
import { waitForEnd } from "../../src/local/demo.ts";
import type { Build, Step } from "../../src/protocol/build.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import type { Repository } from "../../src/protocol/repository.ts";
import { type RunningAgent, startAgent } from "../support/local/agent.ts";
import { connectRepository, type GitRepository, makeRepository } from "../support/local/git-repository.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";

let service: LocalService;
let client: Client;
let git: GitRepository;
let repository: Repository;
const agents: RunningAgent[] = [];

const start = async (name: string, ...register: string[]): Promise<void> => {
  agents.push(await startAgent(client, service.folder, name, { register }));
};

beforeAll(async () => {
  service = await startLocalService();
  client = await service.newOrganization("acme");
  git = makeRepository(service.folder, { "app/data.txt": "the data\n" });
  repository = await connectRepository(client, git);
  await start("plain");
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.stop()));
  await service?.remove();
});

let pipelines = 0;

const newPipeline = (definition: string | null, more: object = {}): Promise<Pipeline> =>
  client.call("POST", "/pipeline", { repoId: repository.id, name: `p${++pipelines}`, definition, ...more });

const trigger = ({ id }: Pipeline, more: object = {}): Promise<Build> =>
  client.call("POST", "/build", { pipelineId: id, branch: "main", ...more });

const get = (id: string): Promise<Build> => client.call("GET", `/build/${id}`);

const logOf = async (id: string, query = ""): Promise<string> => {
  const headers = { Authorization: `Bearer ${client.token}` };
  return (await fetch(`${client.url}/build/${id}/log${query}`, { headers })).text();
};

/** Runs a build with these steps to its end, and returns it with its log. */
const run = async (definition: string, more: { pipeline?: object; build?: object } = {}) => {
  const { id } = await trigger(await newPipeline(definition, more.pipeline), more.build);
  const build = await waitForEnd(client, id);
  return { build, log: await logOf(id) };
};

const told = (steps: Step[]) => steps.map(({ name, status, exitCode }) => [name, status, exitCode]);

/** Returns a step's output: its part of the log without the line with its name. */
const partOf = ({ steps }: Build, log: string, index: number): string => {
  const bytes = Buffer.from(log);
  const next = steps.slice(index + 1).find(({ logOffset }) => logOffset !== null)?.logOffset ?? bytes.length;
  const part = bytes.subarray(steps[index]?.logOffset ?? bytes.length, next).toString();
  expect(part.split("\n")[0]).toBe(`--- ${steps[index]?.name}`);
  return part.slice(part.indexOf("\n") + 1);
};

describe("the requirements in a pipeline file", () => {
  const FILE = "requires: { labels: [special] }\nsteps:\n  - run: echo at last\n";

  it("move the build to a matching agent without using an attempt", async () => {
    const pipeline = await newPipeline(FILE);
    const { id } = await trigger(pipeline);
    await expect.poll(async () => (await get(id)).message).toContain("lacks the label special");
    expect(await get(id)).toMatchObject({ status: "queued", agentId: null, attempt: 0 });
    const { message } = await client.call<{ message: string }>("GET", `/build/${id}/explain`);
    expect(message).toMatch(/agent/);
    for (const name of ["one", "two", "three"]) await start(name, "--labels", "special");
    const build = await waitForEnd(client, id);
    expect(build).toMatchObject({ status: "succeeded", attempt: 1, message: null, steps: [{ status: "succeeded" }] });
    const agent = await client.call<{ name: string; labels: string[] }>("GET", `/buildagent/${build.agentId}`);
    expect(agent.labels).toEqual(["special"]);
    expect(await logOf(id)).toContain("\nat last\n");
  });

  it("fail the build if they contradict the pipeline's requirements", async () => {
    const { build } = await run(FILE.replace("labels: [special]", "platform: macos"), {
      pipeline: { requires: { platform: "linux" } },
    });
    expect(build).toMatchObject({ status: "failed", reason: "requirements-unmet", attempt: 1 });
    expect(build.message).toContain("is on Linux, not macOS");
  });
});

describe("steps", () => {
  it("pass on outputs, environment and names, and run in the requested shell, folder and environment", async () => {
    const { build, log } = await run(
      `env: { WHO: "\${{ build.branch }} of \${{ repository.fullName }}" }
defaults: { run: { working-directory: app } }
steps:
  - id: make
    name: Make \${{ build.number }} for \${{ WHO }}
    run: |
      echo "version=1.2.3" >> "$MILLRACE_OUTPUT"
      { echo "notes<<END"; echo "first"; echo "a=b"; echo "END"; } >> "$MILLRACE_OUTPUT"
      { echo "LATER=on"; echo "MANY<<X"; printf 'l1\\nl2\\nX\\n'; } >> "$MILLRACE_ENV"
      cat data.txt
  - name: Release \${{ steps.make.outputs.version }}
    env: { NOTES: "\${{ steps.make.outputs.notes }}" }
    run: |
      echo "$LATER <$NOTES> <$MANY>" \${{ steps.make.outputs.version }} "\${{ steps.make.outputs.none || 'nothing' }}"
  - { shell: sh, run: 'echo "sh $0 $LATER" && echo "\${{ LATER }}"' }
  - { shell: node, env: { BRANCH: "\${{ build.branch }}" }, run: 'console.log("node", process.env.BRANCH)' }
  - shell: python
    working-directory: .
    run: |
      import os
      print("python", os.environ["LATER"], os.path.basename(os.getcwd()))
  - run: '[ -n "$BASH_VERSION" ] && echo bash in "$(basename "$PWD")"'
`,
    );
    expect(build, log).toMatchObject({ status: "succeeded", exitCode: 0, summary: null });
    expect(build.steps.map(({ id, name }) => [id, name])).toEqual([
      ["make", `Make ${build.number} for main of ${repository.fullName}`],
      [null, "Release 1.2.3"],
      [null, 'echo "sh $0 $LATER" && echo "${{ LATER }}"'],
      [null, 'console.log("node", process.env.BRANCH)'],
      [null, "import os"],
      [null, '[ -n "$BASH_VERSION" ] && echo bash in "$(basename "$PWD")"'],
    ]);
    expect(partOf(build, log, 0)).toBe("the data\n");
    expect(partOf(build, log, 1)).toBe("on <first\na=b> <l1\nl2> 1.2.3 nothing\n");
    expect(partOf(build, log, 2)).toMatch(/^sh \S+2\.sh on\non\n$/);
    expect(partOf(build, log, 3)).toBe("node main\n");
    expect(partOf(build, log, 4)).toBe("python on workspace\n");
    expect(partOf(build, log, 5)).toBe("bash in app\n");
  });

  it("report when they began and ended, and where their part of the masked log begins", async () => {
    const value = `sécret-${crypto.randomUUID()}`;
    const { build, log } = await run(
      `steps:
  - { name: one, run: 'printf "é %s" "$KEY"; echo' }
  - { name: two, if: false, run: echo never }
  - { name: three, run: 'printf %s "$KEY"' }
  - { name: four, run: 'echo "$KEY"; echo "\${{ KEY }}"; seq 3' }
`,
      { build: { envVariables: { KEY: value }, secretKeys: ["KEY"] } },
    );
    expect(build, log).toMatchObject({ status: "succeeded" });
    expect(log).not.toContain(value);
    expect([0, 2, 3].map((index) => partOf(build, log, index))).toEqual(["é ***\n", "***\n", "***\n***\n1\n2\n3\n"]);
    expect(build.steps[1]).toMatchObject({ status: "skipped", startedAt: null, finishedAt: null, logOffset: null });
    const times = [0, 2, 3].flatMap((index) => [build.steps[index]?.startedAt, build.steps[index]?.finishedAt]);
    expect(times.map((time) => Date.parse(time ?? ""))).not.toContain(Number.NaN);
    expect([build.startedAt, ...times, build.finishedAt].toSorted()).toEqual([
      build.startedAt,
      ...times,
      build.finishedAt,
    ]);
  });

  it("run by their conditions after a success and after a failure", async () => {
    const after = `
  - { name: plain, run: "true" }
  - { name: success, if: success(), run: "true" }
  - { name: failure, if: failure(), run: "true" }
  - { name: always, if: always(), run: "true" }
  - { name: cancelled, if: "\${{ cancelled() }}", run: "true" }
  - { name: words, if: "vars.NOPE == null && build.branch == 'main'", run: "true" }
  - { name: both, if: "failure() && steps.first.exitCode == 7", run: "true" }
`;
    const ran = ({ steps }: Build) =>
      steps.slice(1).flatMap(({ name, status }) => (status === "succeeded" ? [name] : []));
    const good = await run(`steps:\n  - { id: first, run: exit 0 }${after}`);
    expect(good.build, good.log).toMatchObject({ status: "succeeded", exitCode: 0 });
    expect(ran(good.build)).toEqual(["plain", "success", "always", "words"]);
    const bad = await run(`steps:\n  - { id: first, run: exit 7 }${after}`);
    expect(bad.build, bad.log).toMatchObject({ status: "failed", exitCode: 7, reason: null });
    expect(ran(bad.build)).toEqual(["failure", "always", "both"]);
    const forgiven = await run(`steps:\n  - { id: first, continue-on-error: true, run: exit 7 }${after}`);
    expect(forgiven.build).toMatchObject({ status: "succeeded", exitCode: 0 });
    expect(told(forgiven.build.steps)[0]).toEqual(["exit 7", "failed", 7]);
    expect(ran(forgiven.build)).toEqual(["plain", "success", "always", "words"]);
  });

  it("with `always()` or `cancelled()` run after a cancel", async () => {
    const pipeline = await newPipeline(`steps:
  - { name: long, run: "echo ready; sleep 1000" }
  - { name: plain, run: echo never }
  - { name: failed, if: failure(), run: echo never }
  - { name: tidy, if: cancelled(), run: 'echo "tidied \${{ job.status }}"' }
  - { name: always, if: always(), run: echo always }
`);
    const { id } = await trigger(pipeline);
    await expect.poll(() => logOf(id)).toContain("\nready\n");
    await client.call("POST", `/build/${id}/cancel`);
    const build = await waitForEnd(client, id);
    expect(build).toMatchObject({ status: "canceled", reason: "canceled" });
    expect(build.steps.map(({ name, status }) => [name, status])).toEqual([
      ["long", "canceled"],
      ["plain", "skipped"],
      ["failed", "skipped"],
      ["tidy", "succeeded"],
      ["always", "succeeded"],
    ]);
    expect(await logOf(id)).toContain("\ntidied cancelled\n");
  });

  it("that clean up run after a mistake that appears only during the build", async () => {
    const { build, log } = await run(
      "steps:\n  - run: echo one\n  - name: wrong\n    run: echo ${{ GONE }}\n  - { name: plain, run: echo never }\n  - { name: clean, if: always(), run: echo cleaned }\n",
    );
    expect(build, log).toMatchObject({ status: "failed", reason: "pipeline-invalid" });
    expect(build.message).toBe("definition:4:19: There is no variable with this name");
    expect(build.steps.map(({ status }) => status)).toEqual(["succeeded", "failed", "skipped", "succeeded"]);
    expect(partOf(build, log, 1)).toBe(`${build.message}\n`);
    expect(partOf(build, log, 3)).toContain("cleaned\n");
  });

  it("fail with a clear message if their program is missing", async () => {
    const { build, log } = await run("steps:\n  - { name: nothing, shell: pwsh, run: Write-Output x }\n");
    if (process.env.PATH?.split(":").some((folder) => existsSync(join(folder, "pwsh"))))
      return expect(partOf(build, log, 0)).toBe("x\n");
    expect(build).toMatchObject({ status: "failed", exitCode: 127 });
    expect(partOf(build, log, 0)).toContain("pwsh is not installed on this agent");
  });
});

describe("a value derived from a secret", () => {
  it("is masked in every form that an expression or a step gives it", async () => {
    const key = crypto.randomUUID();
    const json = JSON.stringify({ user: "anna", key });
    const found = `found-${crypto.randomUUID()}`;
    const { build, log } = await run(
      `env: { COPY: "\${{ fromJSON(secrets.ACCOUNT).key }}" }
steps:
  - name: Use \${{ fromJSON(ACCOUNT).key }}
    run: |
      echo "1 $COPY" \${{ format('x{0}y', COPY) }}
      echo \${{ fromJSON(ACCOUNT).key }} "\${{ ACCOUNT }}" | rev | rev
  - name: find
    id: find
    run: |
      value=${found.slice(0, 12)}""${found.slice(12)}
      echo "2 $value" | base64 > ../before
      echo "$value" >> "$MILLRACE_MASK"
      echo "3 $value"
      echo "value=$value" >> "$MILLRACE_OUTPUT"
      echo "found $value" >> "$MILLRACE_SUMMARY"
      echo "4 $(printf %s "$value" | base64)"
  - name: again \${{ steps.find.outputs.value }}
    run: echo "5 \${{ steps.find.outputs.value }}"
`,
      { build: { envVariables: { ACCOUNT: json }, secretKeys: ["ACCOUNT"] } },
    );
    expect(build, log).toMatchObject({ status: "succeeded", leak: false, summary: "found ***\n" });
    expect(build.steps.map(({ name }) => name)).toEqual(["Use ***", "find", "again ***"]);
    expect(partOf(build, log, 0)).toBe("1 *** ***\n*** ***\n");
    expect(partOf(build, log, 1)).toBe("3 ***\n4 ***\n");
    expect(partOf(build, log, 2)).toBe("5 ***\n");
    for (const secret of [key, found]) expect(`${log}${JSON.stringify(build)}`).not.toContain(secret);
  });
});

describe("a summary", () => {
  it("contains the steps' texts in order, up to 64 Ki characters", async () => {
    const { build, log } = await run(`steps:
  - run: printf '## One\\n' >> "$MILLRACE_SUMMARY"
  - run: printf '| a |\\n|---|\\n' >> "$MILLRACE_SUMMARY"; exit 1
    continue-on-error: true
`);
    expect(build, log).toMatchObject({ status: "succeeded", summary: "## One\n| a |\n|---|\n" });
    const long = await run(`steps:\n  - run: head -c 200000 /dev/zero | tr '\\0' 'x' > "$MILLRACE_SUMMARY"\n`);
    expect(long.build).toMatchObject({ status: "succeeded", summary: "x".repeat(65_536) });
  });
});

describe("a checkout", () => {
  it("has the depth, tags and submodules of the pipeline file", async () => {
    const part = makeRepository(service.folder, { "part.txt": "of the part\n" });
    const host = makeRepository(service.folder, { "a.txt": "" });
    host.git("tag", "v1");
    host.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", part.cloneUrl, "part");
    for (const message of ["second", "third"]) host.git("commit", "--quiet", "--allow-empty", "--message", message);
    const other = await connectRepository(client, host);
    const count = "steps:\n  - { name: x, run: 'git rev-list --count HEAD; git tag; cat part/part.txt || true' }\n";
    const seen = async (checkout: string) => {
      const { build, log } = await run(`${checkout}\n${count}`, { pipeline: { repoId: other.id } });
      expect(build, log).toMatchObject({ status: "succeeded" });
      return partOf(build, log, 0);
    };
    expect(await seen("")).toMatch(/^1\ncat: /);
    expect(await seen("checkout: { depth: 2, submodules: true }")).toBe("2\nof the part\n");
    expect(await seen("checkout: { depth: 0, fetch-tags: true, submodules: recursive }")).toBe("3\nv1\nof the part\n");
    expect(await seen("checkout: { fetch-tags: true }")).toMatch(/^1\nv1\ncat: /);
  });
});

describe("a checkout with a fixed path for compiler caches", () => {
  it("has the same path in each build of the pipeline, and files as old as their last change", async () => {
    agents.push(await startAgent(client, service.folder, "stable", { labels: ["stable"] }));
    const requires = { labels: ["stable"] };
    const host = makeRepository(service.folder, { "old.c": "1", "new.c": "1" });
    const other = await connectRepository(client, host);
    const file = [
      "checkout: { path: stable, mtimes: commit }",
      "steps:",
      "  - { name: x, run: 'pwd; ls; stat -c %Y old.c new.c; touch left' }",
      "",
    ].join("\n");
    const pipeline = await newPipeline(file, { repoId: other.id, requires });
    const seen = async () => {
      const { id } = await trigger(pipeline);
      const build = await waitForEnd(client, id);
      const log = await logOf(id);
      expect(build, log).toMatchObject({ status: "succeeded" });
      return partOf(build, log, 0).trimEnd().split("\n");
    };
    const first = await seen();
    expect(first.slice(1, 3)).toEqual(["new.c", "old.c"]);
    const committed = host.git("log", "-1", "--format=%ct").trim();
    expect(first.slice(3)).toEqual([committed, committed]);
    writeFileSync(join(host.work, "new.c"), "2");
    host.git("commit", "--quiet", "--all", "--message", "second");
    const second = await seen();
    expect(second.slice(0, 3)).toEqual(first.slice(0, 3));
    expect(second.slice(3)).toEqual([committed, host.git("log", "-1", "--format=%ct").trim()]);
    const elsewhere = await run(file, { pipeline: { repoId: other.id, requires } });
    expect(partOf(elsewhere.build, elsewhere.log, 0).split("\n")[0]).not.toBe(first[0]);
  });
});

describe("a time limit", () => {
  it("is the smaller of the file's and the pipeline's, and a step can have its own", async () => {
    const preload = ["--import", join(import.meta.dirname, "../support/local/short-minute.ts")];
    const hasty = { register: ["--android"], preload };
    agents.push(...(await Promise.all([1, 2, 3].map((n) => startAgent(client, service.folder, `hasty-${n}`, hasty)))));
    const begin = (file: string, more = {}) =>
      newPipeline(file, { requires: { android: true }, ...more }).then((pipeline) => trigger(pipeline));
    const sleep = "timeout-minutes: 1\nsteps:\n  - { name: long, run: echo begun; sleep 1000 }\n";
    const short = begin(sleep, { timeoutSeconds: 3 });
    const long = begin(sleep);
    const step = begin(
      "steps:\n  - { id: a, timeout-minutes: 1, continue-on-error: true, run: sleep 1000 }\n  - run: echo went on after ${{ steps.a.outcome }}\n",
    );
    for (const [{ id }, limit, seconds] of [
      [await short, 3, 3],
      [await long, 60, 6],
    ] as const) {
      const build = await waitForEnd(client, id);
      expect(build).toMatchObject({
        status: "failed",
        reason: "timeout",
        steps: [{ name: "long", status: "canceled" }],
      });
      expect(build.message).toContain(`${limit} seconds`);
      // The agent counts from its own start, and the service may store the start seconds later.
      const took = Date.parse(build.finishedAt ?? "") - Date.parse(build.startedAt ?? "");
      expect(took).toBeGreaterThanOrEqual(seconds * 500);
    }
    const { id } = await step;
    expect(await waitForEnd(client, id)).toMatchObject({ status: "succeeded", steps: [{ status: "failed" }, {}] });
    expect(await logOf(id)).toMatch(/was stopped after 1 minute \(timeout-minutes\)\n.*\nwent on after failure\n/);
  });
});

describe("another system's syntax", () => {
  const FILE = `on: push
runs-on: macos-26
steps:
  - uses: actions/checkout@v4
  - run: echo \${{ github.sha }}
  - run: echo '\${{ build.branch }}'
`;
  const EXPECTED = [
    [1, 5, /Write a mapping, for example `on:/],
    [2, 1, /`requires`/],
    [4, 5, /The checkout comes before the first step/],
    [5, 19, /There is no context `github`/],
    [6, 16, /single quotes/],
  ] as const;

  it("is reported line by line: by the check, when saved, and by a build", async () => {
    const checked = await client.call<{
      isValid: boolean;
      mistakes: { line: number; column: number; message: string; suggestion?: string }[];
    }>(...(["POST", "/pipeline/check", { definition: FILE }] as const));
    expect(checked.mistakes.map(({ line, column }) => [line, column])).toEqual(
      EXPECTED.map(([line, column]) => [line, column]),
    );
    for (const [index, [, , words]] of EXPECTED.entries()) expect(checked.mistakes[index]?.message).toMatch(words);
    expect(checked.mistakes[3]?.suggestion).toBe("build.commit");
    await expect(newPipeline(FILE)).rejects.toThrow(
      /422 .*"\/definition".*1:5: .*5:19: .*Did you mean `build\.commit`/s,
    );
    const wrong = makeRepository(service.folder, { ".millrace.yml": FILE });
    const { id: repoId } = await connectRepository(client, wrong);
    const { id } = await client.call<Build>("POST", `/repository/${repoId}/build`, { branch: "main" });
    const build = await waitForEnd(client, id);
    expect(build).toMatchObject({ status: "failed", reason: "pipeline-invalid", steps: [] });
    const lines = build.message?.split("\n") ?? [];
    // A build does not check the triggers.
    expect(lines.map((line) => line.split(": ")[0])).toEqual(
      EXPECTED.slice(1).map(([line, column]) => `.millrace.yml:${line}:${column}`),
    );
  });
});
