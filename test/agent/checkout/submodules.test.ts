import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkOut, fetchSource } from "../../../src/agent/checkout/checkout.ts";
import { git } from "../../../src/agent/checkout/git.ts";
import { failureOf, makeCheckoutContext, PLAIN, sourceOf } from "../support/checkout.ts";
import { testFolder } from "../support/folder.ts";
import { type TestRepository, testRepository } from "../support/repository.ts";
import { WAYS } from "../support/ways.ts";

/** A submodule: its address, its commit and further lines for .gitmodules. */
interface Submodule {
  url: string;
  commit: string;
  more?: string;
}

const withSubmodule = ({ url, commit, more = "" }: Submodule): TestRepository => {
  const repository = testRepository({
    ".gitmodules": `[submodule "inner"]\n\tpath = inner\n\turl = ${url}\n\t${more}\n`,
  });
  repository.git("update-index", "--add", "--cacheinfo", `160000,${commit},inner`);
  repository.git("commit", "--quiet", "--message", "submodule");
  return repository;
};

/** Checks out with the submodule. @returns the number of the submodule's commits in the checkout, and its file */
const checkedOut = async (way: keyof typeof WAYS, submodule: Submodule, depth = 1) => {
  const cloneUrl = await WAYS[way](withSubmodule(submodule));
  const at = await makeCheckoutContext();
  const credential = { kind: "token", username: "miller", value: "pw" } as const;
  const source = sourceOf(cloneUrl, { repository: { fullName: "acme/mill", cloneUrl, credential } });
  await checkOut(source, await fetchSource(source, at), at, { ...PLAIN, submodules: "direct", depth });
  const place = { folder: join(at.workspace, "inner"), protocols: [], tree: at.tree };
  const counted = await git(place, ["rev-list", "--count", "HEAD"]);
  const text = readFileSync(join(at.workspace, "inner/a.txt"), "utf8");
  return { commits: Number(counted.stdout.toString()), text };
};

/** Creates four commits, and returns the second. */
const inner = () => {
  const repository = testRepository({ "a.txt": "1" });
  const old = repository.commit({ "a.txt": "2" });
  for (const text of ["3", "4"]) repository.commit({ "a.txt": text });
  return { repository, old, head: repository.git("rev-parse", "HEAD") };
};

describe("a submodule", () => {
  it("is fetched with the history that the file requests, whatever .gitmodules recommends", async () => {
    const { repository, head } = inner();
    const submodule = { url: repository.cloneUrl, commit: head, more: "shallow = true" };
    expect(await checkedOut("file", submodule)).toEqual({ commits: 1, text: "4" });
    expect(await checkedOut("file", submodule, 3)).toEqual({ commits: 3, text: "4" });
    expect(await checkedOut("file", submodule, 0)).toEqual({ commits: 4, text: "4" });
  });

  it("is fetched completely from a host that serves plain files", async () => {
    const { repository, old } = inner();
    const url = await WAYS["plain files"](repository);
    expect(await checkedOut("plain files", { url, commit: old })).toEqual({ commits: 2, text: "2" });
  });

  it("is fetched completely for an older commit if the host does not serve commits by hash", async () => {
    const { repository, old, head } = inner();
    const url = `../../${basename(dirname(repository.folder))}/mill.git`;
    expect(await checkedOut("http of an old host", { url, commit: old })).toEqual({ commits: 2, text: "2" });
    expect(await checkedOut("http of an old host", { url, commit: head })).toEqual({ commits: 1, text: "4" });
  });

  it.each(["direct", "recursive"] as const)("has its LFS files if the file requests both (%s)", async (submodules) => {
    const folder = testFolder();
    writeFileSync(join(folder, "git-lfs"), '#!/bin/sh\necho "$*" >> lfs\n', { mode: 0o755 });
    const path = process.env.PATH;
    process.env.PATH = `${folder}:${path}`;
    onTestFinished(() => {
      process.env.PATH = path;
    });
    const { repository, head } = inner();
    const middle = withSubmodule({ url: repository.cloneUrl, commit: head });
    const { cloneUrl } = withSubmodule({ url: middle.cloneUrl, commit: middle.git("rev-parse", "HEAD") });
    const at = await makeCheckoutContext();
    const source = sourceOf(cloneUrl);
    await checkOut(source, await fetchSource(source, at), at, { ...PLAIN, submodules, lfs: true });
    const isPulled = (name: string) => existsSync(join(at.workspace, name, "lfs"));
    expect(["", "inner", "inner/inner"].map(isPulled)).toEqual([true, true, submodules === "recursive"]);
    expect(readFileSync(join(at.workspace, "inner/lfs"), "utf8")).toBe("install --local --skip-repo\npull\n");
  });

  it("fails the checkout if its commit does not exist", async () => {
    const url = inner().repository.cloneUrl;
    const commit = "0123456789012345678901234567890123456789";
    const failure = await failureOf(checkedOut("file", { url, commit }));
    expect(failure).toMatchObject({ reason: "checkout-failed", message: expect.stringContaining(commit) });
  });
});
