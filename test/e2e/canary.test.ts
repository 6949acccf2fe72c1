import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../src/api/routes.ts";
import type { Client } from "../../src/local/client.ts";
import { waitForEnd } from "../../src/local/demo.ts";
import type { Build } from "../../src/protocol/build.ts";
import type { Group } from "../../src/protocol/group.ts";
import { NOUNS } from "../../src/protocol/organization.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import type { Repository } from "../../src/protocol/repository.ts";
import type { TestReport } from "../../src/protocol/test-report.ts";
import { type RunningAgent, startAgent } from "../support/local/agent.ts";
import { watchCommandLines } from "../support/local/command-lines.ts";
import { encode, findEncoded } from "../support/local/encodings.ts";
import { TestGitHost } from "../support/local/git-host/git-host.ts";
import { type GitRepository, makeRepository } from "../support/local/git-repository.ts";
import { type GitServer, startGitServer } from "../support/local/git-server.ts";
import { type LocalService, startLocalService } from "../support/local/service.ts";

/* Secrets in every place that accepts one, builds that try everything to show them, and a search through all data. */

const canary = (name: string): string => `${name}/+"ä${crypto.randomUUID()}`;
const CANARIES = {
  ...{ ORG: canary("org"), GROUP: canary("group"), REPO: canary("repo"), PIPELINE: canary("pipeline") },
  ...{ RUN: canary("run"), MADE: canary("made"), CLONE: `clone-${crypto.randomUUID()}` },
  ...{ HOST: `host-${crypto.randomUUID()}`, TIMED: canary("timed") },
  ...{ TEXTFILE: canary("file"), BYTEFILE: Buffer.from(`bytes-${crypto.randomUUID()}`).toString("base64") },
};
/** Not secret. Each search must find this text in every encoding. */
const CONTROL = { control: canary("control") };
const CONTROL_TEXT = Object.values(encode(CONTROL.control)).join("\n");
const ALL_FOUND = findEncoded(CONTROL_TEXT, CONTROL);

const isRoot = process.getuid?.() === 0;
const user = `millrace-${process.pid}`;
/** Unique to this run: other agents may run on this machine. */
const orgId = `canary-${process.pid}`;

const PRINT = `show() {
  local value="$1" hex pct= byte char
  hex=$(printf %s "$value" | od -An -v -tx1 | tr -d ' \\n')
  for (( i = 0; i < \${#hex}; i += 2 )); do
    byte=\${hex:i:2}
    case $byte in
      2d|2e|3[0-9]|4[1-9a-f]|5[0-9a]|5f|6[1-9a-f]|7[0-9a]) printf -v char "\\\\x$byte"; pct+=$char ;;
      *) pct+=%\${byte^^} ;;
    esac
  done
  local json=\${value//\\\\/\\\\\\\\}
  printf '%s\\n' "$value" "$hex" "$pct" "\${json//\\"/\\\\\\"}"
  for before in '' x xx; do printf %s "$before$value" | base64 | tr -d '\\n'; echo; done
  printf %s "$value" | base64 | tr -d '\\n' | tr +/ -_; echo
}
MADE=$(echo "$EDAM" | LC_ALL=C.UTF-8 rev)
echo "$MADE" >> "$MILLRACE_MASK"
FILED=$(cat "$TEXTFILE"); BYTES=$(base64 -w0 < "$BYTEFILE")
ls "$TEXTFILE" "$BYTEFILE"
for name in ORG GROUP REPO PIPELINE RUN MADE FILED BYTES; do show "\${!name}"; done
{ echo "summary: $ORG"; cat control.txt; } >> "$MILLRACE_SUMMARY"
echo "out=$REPO" >> "$MILLRACE_OUTPUT"
echo "KEPT=$PIPELINE" >> "$MILLRACE_ENV"
cp control.txt kept.txt
escaped() { printf %s "$1" | sed 's/&/\\&amp;/g; s/</\\&lt;/g; s/"/\\&quot;/g'; }
{
  printf '<testsuite name="%s"><testcase classname="%s" name="%s">' "$(escaped "$GROUP")" "$(escaped "$RUN")" "$(escaped "$ORG")"
  printf '<failure message="%s">' "$(escaped "$REPO")"
  for name in ORG GROUP REPO PIPELINE RUN MADE FILED BYTES; do escaped "$(show "\${!name}")"; done
  printf '</failure></testcase>'
  # Where more than half of all tests fail it is the machine, and no test is remembered for it.
  printf '<testcase classname="c" name="%s"/>' one two three; printf '</testsuite>'
} > junit.xml
`;

const FILE = `artifacts: [{ name: left, path: kept.txt }]
reports: { junit: junit.xml }
cache: [{ name: kept, key: one, path: kept.txt }]
steps:
  - id: print
    name: "Print \${{ env.ORG }}"
    run: bash print.sh
  - name: "After \${{ steps.print.outputs.out }}"
    run: |
      printf '%s\\n' "$KEPT" "\${{ steps.print.outputs.out }}"
      cat control.txt
      if [ "\${EVIDENCE:-}" ]; then env > "$EVIDENCE/env"; cp -r . "$EVIDENCE/workspace"; fi
      if [ "\${SLEEP:-}" ]; then echo ready; sleep 600; fi
      if [ "\${FAIL:-}" ]; then exit 7; fi
`;

let service: LocalService;
let client: Client;
let agent: RunningAgent;
let git: GitServer;
let source: GitRepository;
let repository: Repository;
let gitHost: TestGitHost;
let pushed: GitRepository;
/** Proves deliveries. One API answer may contain it. */
let hookSecret: string;
let pipeline: Pipeline;
/** The steps' folder for an agent that runs as root. The steps' user must be able to enter the path. */
const work = mkdtempSync(join(tmpdir(), "millrace-work-"));
const temporary = join(work, "tmp");
const evidence = join(work, "evidence");
/** Written before an agent exists. Files that have not changed since then cannot contain its token. */
const begun = join(work, "begun");

const shown: string[] = [];
const logOf = async (id: string): Promise<string> => {
  const headers = { Authorization: `Bearer ${client.token}` };
  return (await fetch(`${client.url}/build/${id}/log`, { headers })).text();
};
const start = (envVariables: Record<string, string> = {}, more: object = {}): Promise<Build> =>
  client.call<Build>("POST", "/build", {
    ...{ pipelineId: pipeline.id, branch: "main", secretKeys: ["RUN"] },
    ...{ envVariables: { RUN: CANARIES.RUN, EDAM: [...CANARIES.MADE].reverse().join(""), ...envVariables }, ...more },
  });
const run = async (envVariables: Record<string, string> = {}, more: object = {}) => {
  const { id } = await start(envVariables, more);
  const build = await waitForEnd(client, id);
  const log = await logOf(id);
  shown.push(id);
  return { build, log };
};
const credential = (value: string) =>
  client.call("PUT", `/repository/${repository.id}/credential`, { kind: "token", username: "builder", value });

/** Returns the bytes, followed by their unpacked contents if they are gzipped. */
const opened = (bytes: Buffer): Buffer =>
  bytes[0] === 0x1f && bytes[1] === 0x8b ? Buffer.concat([bytes, gunzipSync(bytes)]) : bytes;

/** Returns every file below a folder: its path and its bytes. */
const filesOf = (folder: string): [string, Buffer][] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
    .map((path) => [path, opened(readFileSync(path))]);

beforeAll(async () => {
  for (const folder of [temporary, evidence]) mkdirSync(folder);
  writeFileSync(begun, "");
  chmodSync(work, 0o711);
  for (const folder of [temporary, evidence]) chmodSync(folder, 0o777);
  if (isRoot) execFileSync("useradd", ["--create-home", "--home-dir", join(work, "home"), user]);
  service = await startLocalService();
  client = await service.newOrganization(orgId);
  source = makeRepository(service.folder, {
    ...{ ".millrace.yml": FILE, "print.sh": PRINT, "control.txt": `${CONTROL_TEXT}\n` },
  });
  git = await startGitServer(dirname(source.work), "builder", CANARIES.CLONE);
  const cloneUrl = `${git.url}/${basename(source.work)}`;
  const wanted = { gitHostRepoId: 1, fullName: "acme/app", cloneUrl };
  repository = await client.call<Repository>("POST", "/repository", wanted);
  const group = await client.call<Group>("POST", "/secrets/groups", { name: "g", description: CONTROL_TEXT });
  pipeline = await client.call<Pipeline>("POST", "/pipeline", {
    ...{ repoId: repository.id, name: "ci", groupIds: [group.id] },
  });
  await connectHost();
  await client.call("POST", "/schedule", {
    ...{ pipelineId: pipeline.id, name: "yearly", cron: "0 0 1 1 *", envVariables: { TIMED: CANARIES.TIMED } },
  });
  const owners = {
    ...{ ORG: { scope: "organization", orgId }, REPO: { scope: "repository", repoId: repository.id } },
    GROUP: { scope: "group", orgId, groupId: group.id },
    PIPELINE: { scope: "pipeline", pipelineId: pipeline.id },
  };
  for (const [key, owner] of Object.entries(owners)) {
    const value = CANARIES[key as keyof typeof owners];
    await client.call("POST", "/secrets/variables", {
      key,
      value,
      isSecret: true,
      description: CONTROL_TEXT,
      ...owner,
    });
  }
  for (const [key, fileEncoding] of [
    ["TEXTFILE", "text"],
    ["BYTEFILE", "base64"],
  ] as const) {
    const file = { isSecret: true, isFile: true, fileEncoding, scope: "organization", orgId };
    await client.call("POST", "/secrets/variables", { key, value: CANARIES[key], ...file });
  }
  const before = process.env.TMPDIR;
  process.env.TMPDIR = temporary;
  const options = isRoot ? ["--run-as", user, "--work", join(work, "builds")] : ["--work", join(work, "builds")];
  agent = await startAgent(client, service.folder, "one", { start: [...options, "--grace", "1"] });
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
});

/** Connects a git host with its own token, creates a repository whose pushes start builds, and rotates the secret. */
const connectHost = async () => {
  const secrets = { token: CANARIES.HOST, gitPassword: CANARIES.CLONE };
  gitHost = await TestGitHost.start("gitlab", service.folder, secrets);
  const bare = gitHost.addRepository("acme/pushed");
  pushed = makeRepository(service.folder, { ".millrace.yml": "steps:\n  - run: env; cat .git/config\n" });
  await gitHost.push(pushed, bare, "main");
  const host = { kind: "gitlab", name: "host", webUrl: gitHost.url, token: CANARIES.HOST };
  const connection = await client.call<{ id: string }>("POST", "/connection", host);
  const path = `/connection/${connection.id}`;
  const linked = { hostRepoId: bare.id, defaultBranch: "main" };
  const { id: repoId } = await client.call<Repository>("POST", `${path}/repository`, linked);
  const wanted = { kind: "token", username: "builder", value: CANARIES.CLONE };
  await client.call("PUT", `/repository/${repoId}/credential`, wanted);
  await client.call("POST", "/pipeline", { repoId, name: "pushed" });
  await client.call("POST", `${path}/rotate`);
  ({ secret: hookSecret } = await client.call<{ secret: string }>("GET", `${path}/hook`));
};

/** Pushes to the git host. @returns the push's build, after it has ended and the host knows */
const buildOfPush = async (): Promise<Build> => {
  pushed.git("commit", "--quiet", "--allow-empty", "--message", CONTROL.control);
  await gitHost.push(pushed, gitHost.repositories[0]!, "main");
  const sha = pushed.git("rev-parse", "HEAD");
  const found = async () => (await client.call<Build[]>("GET", `/build?commitSha=${sha}`))[0];
  await expect.poll(found).toBeDefined();
  const build = await waitForEnd(client, (await found())?.id ?? "");
  await expect.poll(() => gitHost.statesOf(sha, "millrace").at(-1)).toBe("success");
  return build;
};

afterAll(async () => {
  await gitHost?.close();
  await agent?.stop();
  await git?.close();
  await service?.remove();
  if (isRoot) execFileSync("userdel", ["--force", user], { stdio: "ignore" });
  rmSync(work, { recursive: true, force: true });
});

describe("a clone credential", () => {
  it("is required: without it or with a wrong one, the build fails and says how to set it", async () => {
    for (const wrong of [null, "not-the-credential"]) {
      if (wrong) await credential(wrong);
      const { build, log } = await run();
      expect(build).toMatchObject({ status: "failed", reason: "checkout-failed" });
      expect(build.message).toContain("PUT /repository/{id}/credential");
      expect(log).toContain("credential");
      if (wrong) expect(log + build.message).not.toContain(wrong);
    }
    expect(git.asked.every(({ isAdmitted }) => !isAdmitted)).toBe(true);
  });

  it("lets the fetch succeed, and appears in no address, argument, workspace, environment or log", async () => {
    await credential(CANARIES.CLONE);
    const lines = watchCommandLines();
    const { build, log } = await run({ EVIDENCE: evidence });
    lines.stop();
    expect(build, log).toMatchObject({ status: "succeeded" });
    expect(git.asked.some(({ isAdmitted }) => isAdmitted)).toBe(true);
    const { CLONE } = CANARIES;
    const places: Record<string, [bytes: string, control: string]> = {
      addresses: [JSON.stringify(git.asked), "git-upload-pack"],
      "command lines": [[...lines.seen].join("\n"), " fetch "],
      environment: [readFileSync(join(evidence, "env"), "utf8"), CANARIES.ORG],
      workspace: [filesOf(join(evidence, "workspace")).map(String).join("\n"), '[remote "origin"]'],
      log: [log, "--- Checkout"],
    };
    for (const [place, [bytes, control]] of Object.entries(places)) {
      expect(bytes, place).toContain(control);
      expect(findEncoded(bytes, { CLONE }), place).toEqual([]);
    }
    rmSync(join(evidence, "workspace"), { recursive: true });
    rmSync(join(evidence, "env"));
  });
});

describe("a step that runs as another user", () => {
  it("finds the agent's token neither in /proc nor on disk", async () => {
    if (!isRoot) return expect(agent.printed()).toContain("one trust domain");
    const { token } = JSON.parse(readFileSync(join(agent.state, "identity.json"), "utf8"));
    const planted = `mra_${orgId}_${"C".repeat(42)}`;
    writeFileSync(join(temporary, "planted"), planted);
    const places = [
      service.folder,
      work,
      temporary,
      "/tmp",
      "/var/tmp",
      "/dev/shm",
      "/home",
      "/root",
      "/run",
      "/etc",
    ].join(" ");
    const search = `steps:
  - run: |
      id -un
      HELD=mra_${orgId}_$(printf 'D%.0s' {1..42}) sleep 20 &
      sleep 0.2
      {
        cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' || true
        find ${places} -xdev -type f -cnewer ${begun} -size -4M -readable -exec cat {} + 2>/dev/null || true
      } | grep -aoE 'mra_${orgId}_[A-Za-z0-9]{42}' | sort -u | sed 's/^/found: /'
      cat ${agent.state}/identity.json 2>&1 | head -1
      kill %1
`;
    const wanted = { repoId: repository.id, name: "search", definition: search };
    const { id: pipelineId } = await client.call<Pipeline>("POST", "/pipeline", wanted);
    const { log } = await run({}, { pipelineId });
    rmSync(join(temporary, "planted"));
    expect(log).toContain(`${user}\n`);
    const hits = [...log.matchAll(/^found: (.*)$/gm)].map(([, hit]) => hit);
    expect(hits).toEqual([planted, planted.replaceAll("C", "D")]);
    expect(log).toContain("Permission denied");
    expect(log).not.toContain(token);
  });
});

describe("after builds that print, fail and are canceled", () => {
  it("no canary appears in storage, answers, output or on the agent's disk", async () => {
    const printed = await run();
    expect(printed.build, printed.log).toMatchObject({ status: "succeeded", leak: false, tests: { failed: 1 } });
    expect(printed.log.split("***").length).toBeGreaterThan(8 * 8);
    for (const name of ["TEXTFILE", "BYTEFILE"]) expect(printed.log).toMatch(new RegExp(`/files/[12]/${name}\n`));
    expect((await run({ FAIL: "1" })).build).toMatchObject({ status: "failed", exitCode: 7 });
    expect((await run({}, { branch: "not-there" })).build).toMatchObject({ reason: "checkout-failed" });
    const { id } = await start({ SLEEP: "1" });
    await expect.poll(() => logOf(id)).toContain("ready");
    await client.call("POST", `/build/${id}/cancel`);
    expect(await waitForEnd(client, id)).toMatchObject({ status: "canceled" });
    shown.push(id);
    const ofPush = await buildOfPush();
    expect(ofPush, await logOf(ofPush.id)).toMatchObject({ event: "push", status: "succeeded" });
    shown.push(ofPush.id);

    const answers = await everyAnswer();
    await agent.stop();
    await service.stop();
    const folders = { storage: service.stateFolder, "agent's state": agent.state, "agent's work": work };
    for (const [place, folder] of Object.entries(folders)) {
      const files = filesOf(folder);
      expect(
        files.flatMap(([path, bytes]) => findEncoded(bytes, CANARIES).map((hit) => `${path}: ${hit}`)),
        place,
      ).toEqual([]);
      expect(
        files.flatMap(([, bytes]) => findEncoded(bytes, { hookSecret })),
        place,
      ).toEqual([]);
      if (place === "storage") {
        for (const part of ["d1", "do", "r2"]) {
          const within = files.filter(([path]) => path.startsWith(join(folder, "v3", part)));
          const found = within.flatMap(([, bytes]) => findEncoded(bytes, CONTROL));
          expect([...new Set(found)].sort(), part).toEqual([...ALL_FOUND].sort());
        }
      } else {
        writeFileSync(join(folder, "control"), CONTROL_TEXT);
        expect(filesOf(folder).flatMap(([, bytes]) => findEncoded(bytes, CONTROL))).toEqual(ALL_FOUND);
      }
    }
    for (const [route, text] of answers) {
      expect(findEncoded(text, CANARIES), route).toEqual([]);
      if (route !== "/connection/:id/hook") expect(findEncoded(text, { hookSecret }), route).toEqual([]);
    }
    expect(gitHost.api.place.hooks).toMatchObject([{ secret: hookSecret }]);
    expect(gitHost.api.requests.map(({ path }) => path)).toContainEqual(expect.stringMatching(/statuses/));
    for (const { headers, ...request } of gitHost.api.requests) {
      expect(findEncoded(JSON.stringify(request), CANARIES)).toEqual([]);
      const holding = Object.values(headers).filter((value) => findEncoded(value, CANARIES).length > 0);
      expect(holding).toEqual([CANARIES.HOST]);
    }
    const inAnswers = new Set(answers.flatMap(([, text]) => findEncoded(text, CONTROL)));
    expect([...inAnswers].sort()).toEqual([...ALL_FOUND].sort());
    const console = service.printed() + agent.printed();
    expect(findEncoded(console, { ...CANARIES, hookSecret })).toEqual([]);
    expect(console).toContain(id);
    expect(service.printed()).toContain('"route":"/secrets/variables"');
    expect(findEncoded(console + CONTROL_TEXT, CONTROL)).toEqual(ALL_FOUND);
  });
});

/** Returns an administrator's answer for each GET in the API, about each record, with all pages of the export. */
const everyAnswer = async (): Promise<[route: string, text: string][]> => {
  const idsOf = async (path: string): Promise<string[]> =>
    (await client.call<{ id: string }[]>("GET", path)).map(({ id }) => id);
  const nouns = [
    "/token",
    "/secrets/variables",
    "/secrets/groups",
    "/connection",
    "/schedule",
    "/repository",
    "/pipeline",
    "/build",
    "/buildagent",
  ];
  const ids = Object.fromEntries(await Promise.all(nouns.map(async (noun) => [noun, await idsOf(noun)] as const)));
  expect(ids["/build"]).toEqual(expect.arrayContaining(shown));
  ids["/organization"] = [orgId];
  const builds = await Promise.all((ids["/build"] ?? []).map((id) => client.call<Build>("GET", `/build/${id}`)));
  ids["/job"] = builds.flatMap(({ jobs }) => (jobs ?? []).map(({ id }) => id));
  const leavers = builds.filter(({ tests, status }) => tests && status === "succeeded").map(({ id }) => id);
  expect(leavers.length).toBeGreaterThan(1);
  const [{ tests: [test] = [] } = {}] = await client.call<TestReport[]>("GET", `/build/${leavers[0]}/tests`);
  const others: Record<string, string> = { name: "left", path: "kept.txt", testId: test?.id ?? "" };
  const idsFor = (path: string): string[] => {
    if (path.includes("/:name") || path === "/job/:id/tests") return leavers;
    if (path.includes("/:testId")) return [repository.id];
    const noun = Object.keys(ids).find((prefix) => path.startsWith(`${prefix}/:id`));
    return noun ? (ids[noun] ?? []) : [""];
  };
  const answers: [string, string][] = [];
  for (const { path, verb } of ROUTES.filter(({ method }) => method === "GET")) {
    if (!verb.access.role) continue;
    for (const id of idsFor(path)) {
      const query = { "/secrets/groups": "?includeVariables=true", "/audit": "?limit=200" }[path] ?? "";
      const isExport = path.endsWith("/export");
      let url: string | undefined = client.url + path.replace(/:(\w+)/g, (_, name) => others[name] ?? id) + query;
      while (url) {
        const response: Response = await fetch(url, { headers: { Authorization: `Bearer ${client.token}` } });
        expect(response.status, path).toBe(200);
        answers.push([path, JSON.stringify([...response.headers]) + (await response.text())]);
        const [, next]: string[] = /<([^>]+)>; rel="next"/.exec(response.headers.get("Link") ?? "") ?? [];
        url = isExport && next ? new URL(next, url).href : undefined;
      }
    }
  }
  const exported = answers.filter(([path]) => path === "/organization/:id/export").map(([, text]) => text);
  for (const noun of NOUNS) expect(exported.join(), noun).toContain(`{"noun":"${noun}"`);
  expect(answers.length).toBeGreaterThan(40);
  return answers;
};
