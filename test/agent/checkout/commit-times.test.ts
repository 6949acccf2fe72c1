import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkOut, fetchSource } from "../../../src/agent/checkout/checkout.ts";
import { BEFORE, fileTimes } from "../../../src/agent/checkout/commit-times.ts";
import { startGitServer } from "../../support/local/git-server.ts";
import { failureOf, makeCheckoutContext, PLAIN, sourceOf } from "../support/checkout.ts";
import { testFolder } from "../support/folder.ts";
import { commitDated, type TestRepository, testRepository } from "../support/repository.ts";

const WITH_TIMES = { ...PLAIN, mtimes: "commit" } as const;

/** Writes the files, and commits all changes with this time in seconds. */
const commitAt = ({ folder, git }: TestRepository, seconds: number, files: Record<string, string>) => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  process.env.GIT_COMMITTER_DATE = `@${seconds} +0000`;
  git("add", "--all");
  git("commit", "--quiet", "--allow-empty", "--message", String(seconds));
  delete process.env.GIT_COMMITTER_DATE;
};

const checkedOut = async (cloneUrl: string, depth = 1) => {
  const at = await makeCheckoutContext();
  const credential = cloneUrl.startsWith("http") ? ({ kind: "token", username: "miller", value: "pw" } as const) : null;
  const source = sourceOf(cloneUrl, { repository: { fullName: "acme/mill", cloneUrl, credential } });
  const fetched = await fetchSource(source, at);
  await checkOut(source, fetched, at, { ...WITH_TIMES, depth });
  return (name: string) => lstatSync(join(at.workspace, name)).mtimeMs / 1000;
};

/** Creates an early commit, and a branch that changed one of its files and was merged later. */
const withHistory = (hash = "sha1") => {
  const repository = testRepository({}, hash);
  commitAt(repository, 1_000_000_000, { kept: "1", changed: "1", "a\nb ü\t": "1" });
  repository.git("checkout", "--quiet", "-b", "side");
  commitAt(repository, 1_100_000_000, { changed: "2" });
  repository.git("checkout", "--quiet", "main");
  commitAt(repository, 1_200_000_000, { "d/late": "1" });
  process.env.GIT_COMMITTER_DATE = "1300000000 +0000";
  repository.git("merge", "--quiet", "--no-ff", "--message", "merged", "side");
  delete process.env.GIT_COMMITTER_DATE;
  return repository;
};

const NAMES = ["kept", "a\nb ü\t", "changed", "d/late"];
const TIMES = [1e9, 1e9, 1.3e9, 1.2e9];

describe("the times of commits", () => {
  it.each([
    ["sha1", 1],
    ["sha1", 0],
    ["sha256", 1],
  ])("come from the last change; a merge changes what it brings in (%s, depth %i)", async (hash, depth) => {
    expect(NAMES.map(await checkedOut(withHistory(hash).cloneUrl, depth))).toEqual(TIMES);
  });

  it("stay the same if a later commit changes another file", async () => {
    const repository = withHistory();
    commitAt(repository, 1_400_000_000, { kept: "2" });
    expect(NAMES.map(await checkedOut(repository.cloneUrl))).toEqual([1.4e9, ...TIMES.slice(1)]);
  });

  it.each([false, true])("come from a host over the network (old host: %s)", async (isOld) => {
    const { folder } = withHistory();
    const server = await startGitServer(dirname(dirname(folder)), "miller", "pw", isOld);
    onTestFinished(() => server.close());
    const timeOf = await checkedOut(`${server.url}/${basename(dirname(folder))}/mill.git`);
    expect(NAMES.map(timeOf)).toEqual(TIMES);
  });

  it("follow no link, are never in the future or before 1980, and ignore names that look like a commit", async () => {
    const outside = join(testFolder(), "outside");
    writeFileSync(outside, "");
    utimesSync(outside, 5, 5);
    const repository = testRepository({});
    symlinkSync(outside, join(repository.folder, "link"));
    symlinkSync(dirname(outside), join(repository.folder, "folder"));
    const first = repository.git("rev-parse", "HEAD");
    commitAt(repository, 1_000_000_000, { [`${first} 77`]: "1", [first]: "1", ":100644 100644 a b M": "1", z: "1" });
    commitAt(repository, 7, { early: "1" });
    commitAt(repository, 4_000_000_000, { future: "1" });
    const timeOf = await checkedOut(repository.cloneUrl);
    const names = ["link", "folder", "z", first, `${first} 77`, ":100644 100644 a b M", "early"];
    expect(names.map(timeOf)).toEqual([1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 315_532_800]);
    expect(lstatSync(outside).mtimeMs).toBe(5000);
    expect(timeOf("future")).toBeLessThanOrEqual(Date.now() / 1000);
    expect(timeOf("future")).toBeGreaterThan(1e9);
  });

  it("are unknown if the commit's date is invalid", async () => {
    const repository = withHistory();
    writeFileSync(join(repository.folder, "kept"), "2");
    repository.git("add", "--all");
    repository.git("commit", "--quiet", "--message", "its files");
    const tree = repository.git("rev-parse", "HEAD^{tree}");
    repository.git("reset", "--quiet", "--hard", "HEAD~1");
    commitDated(repository, "-5 +0000", tree);
    expect(NAMES.map(await checkedOut(repository.cloneUrl))).toEqual([BEFORE, ...TIMES.slice(1)]);
  });

  it("are set on files whose names are not text", async () => {
    const repository = testRepository({});
    execFileSync("sh", ["-c", "printf x > \"$(printf 'n\\303me')\""], { cwd: repository.folder });
    commitAt(repository, 1_000_000_000, { plain: "1" });
    expect((await checkedOut(repository.cloneUrl))("plain")).toBe(1e9);
  });

  it("are set through no link, even in a folder's place", () => {
    const [root, outside] = [testFolder(), testFolder()];
    writeFileSync(join(outside, "secret"), "x");
    utimesSync(join(outside, "secret"), 5, 5);
    mkdirSync(join(root, "real"));
    writeFileSync(join(root, "real/file"), "x");
    for (const at of ["real/away", "away"]) symlinkSync(outside, join(root, at));
    fileTimes(root, ["away/secret", "real/away/secret", "real/file", "gone/file", "real"], new Map());
    expect(lstatSync(join(outside, "secret")).mtimeMs).toBe(5000);
    expect(lstatSync(join(root, "real/file")).mtimeMs).toBe(BEFORE * 1000);
  });

  it("fail the checkout if the history cannot be fetched", async () => {
    const { cloneUrl } = withHistory();
    const at = await makeCheckoutContext();
    const source = sourceOf(cloneUrl);
    const fetched = await fetchSource(source, at);
    source.repository.cloneUrl = "file:///nowhere/mill.git";
    expect(await failureOf(checkOut(source, fetched, at, WITH_TIMES))).toMatchObject({ reason: "checkout-failed" });
  });
});
