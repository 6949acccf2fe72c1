import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { saveIdentity } from "../../../src/agent/cli/identity.ts";
import type { Job } from "../../../src/protocol/jobs.ts";
import { runAgentCli } from "../support/agent-cli.ts";
import { IDENTITY, makeJob, startFakeService } from "../support/fake-service.ts";
import { testFolder } from "../support/folder.ts";
import { testRepository } from "../support/repository.ts";
import { useRunningAgent } from "../support/running-agent.ts";
import { waitUntil } from "../support/wait-until.ts";

const PEM = "-----BEGIN KEY-----\nbGluZSBvbmUgb2YgdGhlIGtleQ\nbGluZSB0d28gb2YgdGhlIGtleQ\n-----END KEY-----\n";
const BYTES = Buffer.from([0, 255, 10, 13, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 250, 251]);
const STORED = BYTES.toString("base64");
const FILES = {
  CERT: { encoding: "text" as const, text: PEM, name: "dist one.pem" },
  PROFILE: { encoding: "base64" as const, text: `${STORED.slice(0, 8)}\n${STORED.slice(8)}\n` },
};
const WITH_FILES = { files: FILES, secretKeys: ["CERT", "PROFILE"] };

const agent = useRunningAgent();
let number = 1;

const jobOf = (steps: string, change: Partial<Job> = WITH_FILES): Job =>
  makeJob(testRepository({ ".millrace.yml": `steps:\n${steps}` }).cloneUrl, number++, change);

/** Runs the steps. When the result arrives, looks for each path that they printed as `at=PATH`. */
const build = async (steps: string, change?: Partial<Job>, onLog: (log: string) => void = () => {}) => {
  const job = jobOf(steps, change);
  const service = agent.service();
  let left: string[] | null = null;
  service.intercept = ({ path }) => {
    const log = service.logs.get(job.build.id) ?? "";
    if (path === `/build/${job.build.id}/finish`) left = pathsIn(log).filter((one) => existsSync(one));
    else onLog(log);
    return null;
  };
  onTestFinished(() => {
    service.intercept = () => null;
    service.heartbeat = { cancel: false };
  });
  const done = await agent.take(job);
  return { ...done, left: left as string[] | null, paths: pathsIn(done.log) };
};

const pathsIn = (log: string): string[] => [...log.matchAll(/^at=(.*)$/gm)].map(([, path = ""]) => path);
const PRINT = `  - run: printf 'at=%s\\n' "$CERT" "$PROFILE"\n`;

describe("a build's files", () => {
  it("are private, outside the checkout, and identical to the stored bytes", async () => {
    const { result, log, paths, left } = await build(
      `${PRINT}  - run: |
      stat -c 'mode %a' "$CERT" "$(dirname "$CERT")" "$(dirname "$(dirname "$CERT")")" "$PROFILE"
      sha256sum < "$CERT"; sha256sum < "$PROFILE"
      echo "workspace=$PWD"; git status --porcelain --ignored | sed 's/^/dirty /'
      basename "\${{ vars.CERT }}"; basename "\${{ CERT }}"
`,
    );
    expect(result, log).toMatchObject({ status: "succeeded" });
    expect(log.match(/^mode .*$/gm)).toEqual(["mode 600", "mode 700", "mode 700", "mode 600"]);
    const hashed = (bytes: string | Buffer) => `${createHash("sha256").update(bytes).digest("hex")}  -\n`;
    expect(log).toContain(`${hashed(PEM)}${hashed(BYTES)}`);
    const workspace = /^workspace=(.*)$/m.exec(log)?.[1] ?? "";
    expect(paths).toHaveLength(2);
    for (const path of paths) expect(path.startsWith(`${workspace}/`)).toBe(false);
    expect(paths.map((path) => path.split("/").at(-1))).toEqual(["dist one.pem", "PROFILE"]);
    expect(log).not.toContain("dirty");
    expect(log.match(/^dist one\.pem$/gm)).toHaveLength(2);
    expect(left).toEqual([]);
  });

  it("are masked as stored, line by line, but not in decoded form", async () => {
    const { log } = await build(`  - run: cat "$CERT"; echo '${STORED}'; echo; od -An -v -tx1 "$PROFILE"; env\n`);
    for (const line of PEM.split("\n").slice(1, 3)) expect(log).not.toContain(line);
    expect(log).not.toContain(STORED);
    expect(log).toContain("***");
    expect(log).toContain("00 ff 0a 0d");
    const plain = await build(`  - run: cat "$CERT"\n`, { files: FILES });
    expect(plain.log).toContain(PEM.split("\n")[1]);
  });

  it.each([
    ["fails", `${PRINT}  - run: exit 3\n`, {}, { status: "failed", exitCode: 3 }],
    ["reaches its time limit", `${PRINT}  - run: sleep 600\n`, { timeoutSeconds: 2 }, { reason: "timeout" }],
    ["leaves a process with the file open", `${PRINT}  - run: setsid tail -f "$CERT" > /dev/null 2>&1 &\n`, {}, {}],
  ])("are removed when a build %s", async (_, steps, change, expected) => {
    const { result, paths, left } = await build(steps, { ...WITH_FILES, ...change });
    expect(result).toMatchObject(expected);
    expect({ count: paths.length, left }).toEqual({ count: 2, left: [] });
  });

  it("are removed when a build is canceled", async () => {
    const { result, paths, left } = await build(`${PRINT}  - run: sleep 600\n`, undefined, (log) => {
      if (log.includes("at=")) agent.service().heartbeat = { cancel: true, reason: "canceled" };
    });
    expect(result).toMatchObject({ status: "canceled" });
    expect({ count: paths.length, left }).toEqual({ count: 2, left: [] });
  });

  it("arrive with the environment if the job requires it", async () => {
    agent.service().environment = { env: {}, runKeys: [], ...WITH_FILES };
    const { log, left } = await build(`${PRINT}  - run: cat "$CERT"\n`, { needsEnvironment: true });
    expect(log).toContain("at=/");
    expect(log).not.toContain(PEM.split("\n")[1]);
    expect(left).toEqual([]);
  });

  it.each([
    ["a name that leads to another folder", { encoding: "text", text: PEM, name: "../../../../tmp/planted" }],
    ["the name of the parent folder", { encoding: "text", text: PEM, name: ".." }],
    ["invalid base64", { encoding: "base64", text: "not base64!" }],
    ["an encoding from a later service", { encoding: "age", text: PEM }],
  ])("run nothing with %s", async (_, one) => {
    const change = { files: { CERT: one }, secretKeys: ["CERT"] } as unknown as Partial<Job>;
    const { result, log } = await build("  - run: echo begun\n", change);
    expect(result).toMatchObject({ status: "failed", reason: "environment" });
    expect(result?.message).toMatch(/CERT/);
    expect(log).not.toContain("begun\n");
    expect(JSON.stringify(result)).not.toContain("BEGIN KEY");
    expect(existsSync("/tmp/planted")).toBe(false);
  });

  it("are removed without the targets of links that a step put in their place", async () => {
    const victim = testFolder();
    writeFileSync(join(victim, "kept"), "kept");
    mkdirSync(join(victim, "1"));
    writeFileSync(join(victim, "1/kept"), "kept");
    for (const up of ['$(dirname "$CERT")', '$(dirname "$(dirname "$CERT")")', "$CERT"]) {
      const { result, log } = await build(`  - run: at="${up}"; rm -rf "$at"; ln -s ${victim} "$at"\n`);
      expect(result, log).toMatchObject({ status: "succeeded" });
      expect(readdirSync(victim).sort()).toEqual(["1", "kept"]);
      expect(readdirSync(join(victim, "1"))).toEqual(["kept"]);
    }
  });
});

describe("an agent that is killed during a step", () => {
  it("removes the files at its next start, before it polls", async () => {
    const service = await startFakeService();
    onTestFinished(() => service.close());
    const state = join(testFolder(), "state");
    saveIdentity(state, { ...IDENTITY, url: service.url, isEphemeral: false });
    const args = ["start", "--grace", "1", "--state", state, "--work", join(testFolder(), "work")];
    const job = jobOf(`${PRINT}  - run: sleep 600\n`);
    service.jobs.push(job);
    const killed = runAgentCli(args);
    const logOf = () => service.logs.get(job.build.id) ?? "";
    await waitUntil(() => pathsIn(logOf()).length === 2);
    killed.kill("SIGKILL");
    await killed.ended;
    const paths = pathsIn(logOf());
    expect(paths.map((path) => existsSync(path))).toEqual([true, true]);
    const atPoll: boolean[] = [];
    service.intercept = ({ path }) => {
      if (path.endsWith("/poll")) atPoll.push(...paths.map((one) => existsSync(one)));
      return null;
    };
    const next = runAgentCli(args);
    await waitUntil(() => atPoll.length > 0);
    expect(new Set(atPoll)).toEqual(new Set([false]));
    next.kill("SIGTERM");
    await next.ended;
  });
});

const limitOf = (pid: number | "self"): string | undefined =>
  /^Max core file size +(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, "utf8"))?.[1];

describe.runIf(process.platform === "linux" && spawnSync("prlimit").status !== null)("an agent's memory", () => {
  it("never reaches a core dump, even if the starting user's limit would allow one", async () => {
    const allow = (limit?: string) => spawnSync("prlimit", ["--pid", String(process.pid), `--core=${limit}:`]);
    const before = limitOf("self");
    onTestFinished(() => void allow(before));
    allow("unlimited");
    expect(limitOf("self")).not.toBe("0");
    const service = await startFakeService();
    onTestFinished(() => service.close());
    const state = join(testFolder(), "state");
    saveIdentity(state, { ...IDENTITY, url: service.url, isEphemeral: false });
    const running = runAgentCli(["start", "--state", state, "--work", join(testFolder(), "work")]);
    await waitUntil(() => service.requests.some(({ path }) => path.endsWith("/poll")));
    expect(limitOf(running.pid)).toBe("0");
    running.kill("SIGTERM");
    await running.ended;
  });
});
