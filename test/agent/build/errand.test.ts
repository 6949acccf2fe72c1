import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { saveIdentity } from "../../../src/agent/cli/identity.ts";
import type { Job } from "../../../src/protocol/jobs.ts";
import { type AgentProcess, startAgentCli } from "../support/agent-cli.ts";
import { type FakeService, IDENTITY, makeJob, startFakeService } from "../support/fake-service.ts";
import { type TestRepository, testRepository } from "../support/repository.ts";

type Told = Partial<Job> & { origin?: Partial<Job["build"]> };

let number = 100;
const state = mkdtempSync(join(tmpdir(), "millrace-errand-"));
let service: FakeService;
let agent: AgentProcess;

beforeAll(async () => {
  service = await startFakeService();
  saveIdentity(state, { ...IDENTITY, url: service.url, isEphemeral: false });
  agent = startAgentCli(["start", "--grace", "1", "--state", state]);
});
afterAll(async () => {
  await agent?.stop();
  rmSync(state, { recursive: true, force: true });
  await service?.close();
});

/** Runs the job on one real agent, with a real repository and a service that only listens. */
const build = async ({ cloneUrl }: TestRepository, { origin, ...told }: Told) => {
  const job = makeJob(cloneUrl, number++, told);
  const { id } = job.build;
  service.jobs.push({ ...job, build: { ...job.build, repoId: crypto.randomUUID(), ...origin } });
  service.hint({ type: "look" });
  const end = () => service.results.find(({ buildId }) => buildId === id)?.body;
  await expect.poll(end, { timeout: 60_000 }).toBeDefined();
  const sent = service.requests.filter(({ method, path }) => method === "PUT" && path === `/build/${id}/file`);
  const progress = service.requests.filter(({ path }) => path === `/build/${id}/progress`);
  const bases = progress.map(({ body }) => (JSON.parse(body.toString()) as { base?: string | null }).base);
  return {
    files: sent.map(({ body }) => body.toString()),
    log: service.logs.get(id) ?? "",
    result: end(),
    base: bases.find((base) => base !== undefined) ?? null,
  };
};

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const withFile = (text: string, more: Record<string, string> = {}) =>
  testRepository({ ".millrace.yml": text, ...more });

const STEPS = "steps:\n  - run: echo it ran\n";
const ON = `on: { push: { branches: [main], paths: [src/**] } }\n${STEPS}`;
const SKIPPED = { status: "canceled", exitCode: null, reason: "skipped" };
const RAN = { status: "succeeded" };

/** Creates a branch and a main that moved on, and returns the commit where they parted. */
const withBranch = (text: string) => {
  const repository = withFile(text, { "src/a.ts": "1", "docs/a.md": "1" });
  const fork = repository.git("rev-parse", "HEAD");
  repository.git("checkout", "--quiet", "-b", "feature");
  repository.commit({ "docs/a.md": "2" });
  const head = repository.git("rev-parse", "HEAD");
  repository.git("checkout", "--quiet", "main");
  repository.commit({ "src/a.ts": "2" });
  const pull = { number: 7, base: "main", branch: "feature", title: "${{ secrets.A }}", author: "x" };
  const origin = { event: "pull" as const, branch: "feature", ref: "refs/heads/feature", commitSha: head, pull };
  return { repository, fork, told: { base: { branch: "main" }, origin } };
};

describe("the pipeline file", () => {
  it.each<[string, string, Job["file"], string[]]>([
    ["a new file", ON, { hash: hashOf(STEPS), decides: true }, [ON]],
    ["the first file, with triggers", ON, { hash: null, decides: true }, [ON]],
    ["the first file, without triggers", STEPS, { hash: null, decides: true }, []],
    ["a known file", ON, { hash: hashOf(ON), decides: true }, []],
    ["a file from another branch", ON, undefined, []],
  ])("is sent only if the service needs it: %s", async (_, text, file, files) => {
    const built = await build(withFile(text), { ...(file ? { file } : {}) });
    expect(built).toMatchObject({ files, result: RAN });
  });

  it("is sent as an empty text if it is missing, and the build reports the missing file", async () => {
    const gone = await build(testRepository({ a: "1" }), { file: { hash: hashOf(ON), decides: true } });
    expect(gone).toMatchObject({ files: [""], result: { status: "failed", reason: "pipeline-invalid" } });
  });

  it("is not sent if it is a link or too large", async () => {
    const repository = withFile(ON);
    rmSync(join(repository.folder, ".millrace.yml"));
    symlinkSync("/etc/passwd", join(repository.folder, ".millrace.yml"));
    repository.commit({});
    const known = { file: { hash: hashOf(ON), decides: true } };
    const linked = await build(repository, known);
    expect(linked).toMatchObject({ files: [], result: { status: "failed", reason: "pipeline-invalid" } });
    expect((await build(withFile(`${ON}#${"x".repeat(262_144)}`), known)).files).toEqual([]);
  });

  it.each<[string, string, boolean, object]>([
    ["has a trigger for the push: it runs", `on: { push: true }\n${STEPS}`, true, RAN],
    ["has no trigger for the push: it is skipped", `on: { tag: true }\n${STEPS}`, true, SKIPPED],
    ["has a trigger, but its pipeline overrides `on`: it is skipped", `on: { push: true }\n${STEPS}`, false, SKIPPED],
    ["has mistakes: it is skipped", `on: { pusk: true }\n${STEPS}`, true, SKIPPED],
  ])("read for a push %s", async (_, text, decides, result) => {
    const built = await build(withFile(text), { purpose: "read-file", file: { hash: null, decides } });
    expect(built).toMatchObject({ files: [text], result });
    expect(built.log.includes("it ran")).toBe(result === RAN);
  });
});

describe("a build with paths", () => {
  it.each<[string, string[], object]>([
    ["runs if a path changed", ["docs/**"], RAN],
    ["is skipped if no path changed", ["src/**"], SKIPPED],
    ["is skipped if the only changed path is excluded", ["**", "!docs/**"], SKIPPED],
  ])("%s: %j", async (_, paths, result) => {
    const { repository, told } = withBranch(STEPS);
    const built = await build(repository, { ...told, paths });
    expect(built.result).toMatchObject(result);
    expect(built.log.includes("it ran")).toBe(result === RAN);
    if (result === SKIPPED) expect(built.result?.message).toContain("Skipped: no changed file matches ");
  });

  it.each<[string, Job["base"]]>([
    ["missing", undefined],
    ["a deleted branch", { branch: "gone" }],
    ["an option of git", { branch: "--upload-pack=touch marker" }],
    ["a missing commit", { sha: "0123456789012345678901234567890123456789" }],
    ["not a commit", { sha: "--all" }],
  ])("runs if its base is %s", async (_, base) => {
    const { repository, told } = withBranch(STEPS);
    const built = await build(repository, { ...told, base, paths: ["none/**"] });
    expect(built.result).toMatchObject(RAN);
    expect(existsSync("marker")).toBe(false);
  });
});

describe("a file with changed()", () => {
  const ASKS = `steps:
  - if: changed('docs/**')
    run: echo docs
  - if: changed('src/**')
    run: echo src
  - run: |
      echo "$MILLRACE_EVENT $MILLRACE_REF $MILLRACE_PULL $MILLRACE_PULL_BASE [$MILLRACE_TAG] [$MILLRACE_SCHEDULE]"
      echo "$MILLRACE_BASE \${{ build.base }} \${{ build.event }} \${{ build.pull.number }} \${{ build.pull.base }}"
`;

  it("sees only its pull request's own changes, and their base", async () => {
    const { repository, fork, told } = withBranch(ASKS);
    const { log, base, result } = await build(repository, told);
    expect(result).toMatchObject(RAN);
    expect(base).toBe(fork);
    expect(log).toContain("\ndocs\n");
    expect(log).not.toContain("\nsrc\n");
    expect(log).toContain(`pull refs/heads/feature 7 main [] []\n${fork} ${fork} pull 7 main\n`);
  });

  it("sees the changes since the last good commit after a push", async () => {
    const repository = withFile(ASKS, { "src/a.ts": "1" });
    const green = repository.git("rev-parse", "HEAD");
    repository.commit({ "docs/a.md": "1" });
    repository.commit({ "docs/b.md": "1" });
    const pushed = { origin: { event: "push" as const }, base: { sha: green } };
    const { log, base } = await build(repository, pushed);
    expect(base).toBe(green);
    expect(log).toContain("\ndocs\n");
    expect(log).not.toContain("\nsrc\n");
  });

  it("runs everything without a base", async () => {
    const { log, base } = await build(withFile(ASKS), {});
    expect(base).toBeNull();
    expect(log).toContain("\ndocs\n");
    expect(log).toContain("\nsrc\n");
    expect(log).toContain("api refs/heads/main   [] []\n");
  });

  it("gets outside names as text, in one line", async () => {
    const name = "$(touch marker)`x`\n${{ secrets.A }}\0\ud800";
    const origin = { event: "schedule" as const, schedule: name, pull: { number: 1, base: name, branch: name } };
    const file = `steps:\n  - run: printf '%s|' "$MILLRACE_SCHEDULE" "\${{ build.pull.number }}"; ls\n`;
    const { log, result } = await build(withFile(file), {
      origin: { ...origin, pull: { ...origin.pull, title: null, author: null } },
    });
    expect(result).toMatchObject(RAN);
    expect(log).toContain("$(touch marker)`x` ${{ secrets.A }} ");
    expect(log).not.toContain("marker\n");
  });

  it("counts every file as changed if there are too many to list", async () => {
    const repository = withFile(ASKS);
    const green = repository.git("rev-parse", "HEAD");
    const deep = Array.from({ length: 15 }, () => "x".repeat(200)).join("/");
    const files = Array.from({ length: 1_400 }, (_, index): [string, string] => [`${deep}/${index}`, ""]);
    repository.commit(Object.fromEntries(files));
    const { log, base } = await build(repository, { base: { sha: green } });
    expect(base).toBe(green);
    expect(log).toContain("\nsrc\n");
  });
});
