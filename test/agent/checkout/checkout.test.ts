import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CheckoutSource, checkOut, fetchSource, protocolsFor } from "../../../src/agent/checkout/checkout.ts";
import { git } from "../../../src/agent/checkout/git.ts";
import { failureOf, makeCheckoutContext, PLAIN, sourceOf } from "../support/checkout.ts";
import { testRepository } from "../support/repository.ts";

describe("a checkout", () => {
  it("finds the branch's newest commit and its message, and writes only its files", async () => {
    const repository = testRepository({ "a.txt": "one" });
    const head = repository.commit({ "a.txt": "two", "b/c.txt": "three" }, "second\n\nwith more words");
    repository.git("branch", "other");
    const at = await makeCheckoutContext();
    const source = sourceOf(repository.cloneUrl);
    const fetched = await fetchSource(source, at);
    expect(fetched).toMatchObject({ commitSha: head, message: "second\n\nwith more words" });
    expect(readdirSync(at.workspace)).toEqual([".git"]);
    await checkOut(source, fetched, at, PLAIN);
    expect(readdirSync(at.workspace).sort()).toEqual([".git", "a.txt", "b"]);
    expect(readFileSync(join(at.workspace, "a.txt"), "utf8")).toBe("two");
    const known = (await git(fetched.gitContext, ["for-each-ref", "--format=%(refname)"])).stdout.toString().trim();
    expect(known).toBe("refs/remotes/origin/main");
  });

  it.each([
    ["a tag", "refs/tags/v1.0"],
    ["a pull request's head", "refs/pull/7/head"],
    ["a branch with slashes", "feature/new/wheel"],
    ["a branch that looks like a command", "x$(touch${IFS}marker)"],
    ["a branch that looks like two commands", "a;touch${IFS}marker"],
    ["a merge request's head", "refs/merge-requests/7/head"],
    ["a branch with one bracket", "a{b"],
    ["a branch in quotes", "it's`touch${IFS}marker`"],
  ])("checks out %s", async (_, branch) => {
    const repository = testRepository({ "a.txt": "one" });
    const head = repository.git("rev-parse", "HEAD");
    repository.git("update-ref", branch.startsWith("refs/") ? branch : `refs/heads/${branch}`, head);
    const at = await makeCheckoutContext();
    const source = sourceOf(repository.cloneUrl, { branch, configPath: "a.txt" });
    const fetched = await fetchSource(source, at);
    await checkOut(source, fetched, at, PLAIN);
    expect(fetched).toMatchObject({ commitSha: head, file: { text: "one" } });
    expect(readdirSync(at.workspace).sort()).toEqual([".git", "a.txt"]);
  });

  it.each([
    ["a branch that is an option", { branch: "--upload-pack=touch marker" }],
    ["a branch that is a refspec", { branch: "main:refs/heads/x" }],
    ["a branch with a pattern", { branch: "*" }],
    ["an address that is an option", { repository: { fullName: "a/b", cloneUrl: "--upload-pack=touch marker.git" } }],
    ["a remote helper", { repository: { fullName: "a/b", cloneUrl: "ext::sh -c touch% marker.git" } }],
    ["a host that is an option", { repository: { fullName: "a/b", cloneUrl: "ssh://-oProxyCommand=touch/x.git" } }],
  ] as [string, Partial<CheckoutSource>][])("rejects %s before git sees it", async (_, change) => {
    const at = await makeCheckoutContext();
    const failure = await failureOf(fetchSource(sourceOf(testRepository({}).cloneUrl, change), at));
    expect(failure.reason).toBe("checkout-failed");
    expect(readFileSync(join(at.workspace, ".git/config"), "utf8")).not.toContain("remote");
    expect(readdirSync(at.workspace)).toEqual([".git"]);
  });

  it("allows file and http only for a clone URL that uses them", async () => {
    expect(protocolsFor("https://mill.example/a/b.git")).toEqual(["https", "ssh"]);
    expect(protocolsFor("git@mill.example:a/b.git")).toEqual(["https", "ssh"]);
    expect(protocolsFor("file:///srv/b.git")).toEqual(["https", "ssh", "file"]);
    expect(protocolsFor("http://localhost/b.git")).toEqual(["https", "ssh", "http"]);
  });

  it("does not follow a submodule to a protocol that is not allowed", async () => {
    const inner = testRepository({ "inner.txt": "x" });
    const repository = testRepository({
      ".gitmodules": '[submodule "inner"]\n\tpath = inner\n\turl = ext::sh -c touch% marker\n',
    });
    repository.git("update-index", "--add", "--cacheinfo", `160000,${inner.git("rev-parse", "HEAD")},inner`);
    repository.git("commit", "--quiet", "--message", "submodule");
    const at = await makeCheckoutContext();
    const source = sourceOf(repository.cloneUrl);
    const fetched = await fetchSource(source, at);
    const failure = await failureOf(checkOut(source, fetched, at, { ...PLAIN, submodules: "direct" }));
    expect(failure.message).toContain("not allowed");
    expect(existsSync(join(at.workspace, "marker"))).toBe(false);
  });

  it("fetches submodules, tags and history on request", async () => {
    const inner = testRepository({ "inner.txt": "x" });
    const repository = testRepository({ "a.txt": "one" });
    repository.git("tag", "v1");
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.cloneUrl, "inner");
    repository.commit({ "a.txt": "two" });
    const at = await makeCheckoutContext();
    const source = sourceOf(repository.cloneUrl);
    const fetched = await fetchSource(source, at);
    await checkOut(source, fetched, at, { depth: 0, submodules: "recursive", lfs: false, fetchTags: true });
    expect(readFileSync(join(at.workspace, "inner/inner.txt"), "utf8")).toBe("x");
    const tags = await git(fetched.gitContext, ["describe", "--tags", "HEAD"]);
    expect(tags.stdout.toString()).toMatch(/^v1-1-g/);
  });

  it("fetches other branches only with the whole history", async () => {
    const repository = testRepository({ "a.txt": "one" });
    repository.git("checkout", "--quiet", "-b", "feature");
    repository.commit({ "b.txt": "two" });
    repository.git("checkout", "--quiet", "main");
    repository.commit({ "c.txt": "three" });
    const source = sourceOf(repository.cloneUrl, { branch: "feature" });
    const changedSince = async (depth: number) => {
      const at = await makeCheckoutContext();
      const fetched = await fetchSource(source, at);
      await checkOut(source, fetched, at, { ...PLAIN, depth });
      return (await git(fetched.gitContext, ["diff", "--name-only", "origin/main...HEAD"])).stdout.toString();
    };
    expect([await changedSince(0), await changedSince(5)]).toEqual(["b.txt\n", ""]);
  });

  it("runs no hook, no filter from the repository and no template", async () => {
    const repository = testRepository({ ".gitattributes": "* filter=evil\n", "a.txt": "one" });
    const hooks = join(repository.folder, ".git/hooks");
    mkdirSync(hooks, { recursive: true });
    for (const name of ["post-checkout", "reference-transaction", "post-merge"]) {
      writeFileSync(join(hooks, name), `#!/bin/sh\ntouch ${join(repository.folder, "marker")}\n`);
      chmodSync(join(hooks, name), 0o755);
    }
    const at = await makeCheckoutContext();
    const source = sourceOf(repository.cloneUrl);
    const fetched = await fetchSource(source, at);
    await checkOut(source, fetched, at, PLAIN);
    expect(existsSync(join(at.workspace, ".git/hooks"))).toBe(false);
    expect(existsSync(join(repository.folder, "marker"))).toBe(false);
  });

  it("reports whether the branch or the repository does not exist", async () => {
    const repository = testRepository({});
    const noBranch = await failureOf(
      fetchSource(sourceOf(repository.cloneUrl, { branch: "gone" }), await makeCheckoutContext()),
    );
    expect(noBranch).toMatchObject({ reason: "checkout-failed", message: expect.stringContaining("no such branch") });
    const noRepository = await failureOf(
      fetchSource(sourceOf("file:///nowhere/mill.git"), await makeCheckoutContext()),
    );
    expect(noRepository.message).toMatch(/the repository does not exist.*git says:/s);
  });

  it("stops when the build is canceled", async () => {
    const cancel = new AbortController();
    const stuck = createServer(() => cancel.abort(new Error("canceled")));
    await new Promise<void>((resolve) => stuck.listen(0, "127.0.0.1", resolve));
    const { port } = stuck.address() as AddressInfo;
    const at = { ...(await makeCheckoutContext()), signal: cancel.signal };
    const fetching = fetchSource(sourceOf(`http://127.0.0.1:${port}/mill.git`), at);
    await expect(fetching).rejects.toThrow("canceled");
    await at.tree.terminate(0);
    expect(at.tree.living()).toEqual([]);
    stuck.closeAllConnections();
    stuck.close();
  });
});
