import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkOut, fetchSource, makeRepository, protocolsFor, type Source } from "../../src/agent/checkout.ts";
import { withCredential } from "../../src/agent/clone-credential.ts";
import { pipelineText } from "../../src/agent/commit-file.ts";
import { BuildFailure } from "../../src/agent/failure.ts";
import { git } from "../../src/agent/git.ts";
import { gitTrouble } from "../../src/agent/git-trouble.ts";
import { ProcessTree } from "../../src/agent/process-tree.ts";
import { testFolder } from "./support/folder.ts";
import { testRepository } from "./support/repository.ts";

const BUILD = "01900000-0000-7000-8000-000000000002";
const PLAIN = { depth: 1, submodules: "none", lfs: false, fetchTags: false } as const;

const surroundings = async () => {
  const folder = testFolder();
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  await makeRepository(workspace);
  return { workspace, private: folder, tree: new ProcessTree(BUILD) };
};

const sourceOf = (cloneUrl: string, change: Partial<Source> = {}): Source => ({
  branch: "main",
  commitSha: null,
  configPath: ".millrace.yml",
  repository: { fullName: "acme/mill", cloneUrl },
  ...change,
});

const failureOf = async (work: Promise<unknown>): Promise<BuildFailure> => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BuildFailure);
  return error as BuildFailure;
};

describe("checking out", () => {
  it("finds the head of the branch, its message, and writes its files alone", async () => {
    const repository = testRepository({ "a.txt": "one" });
    const head = repository.commit({ "a.txt": "two", "b/c.txt": "three" }, "second\n\nwith more words");
    repository.git("branch", "other");
    const at = await surroundings();
    const source = sourceOf(repository.cloneUrl);
    const fetched = await fetchSource(source, at);
    expect(fetched).toMatchObject({ commitSha: head, message: "second\n\nwith more words" });
    expect(readdirSync(at.workspace)).toEqual([".git"]);
    await checkOut(source, fetched, at, PLAIN);
    expect(readdirSync(at.workspace).sort()).toEqual([".git", "a.txt", "b"]);
    expect(readFileSync(join(at.workspace, "a.txt"), "utf8")).toBe("two");
    const known = (await git(fetched.place, ["for-each-ref", "--format=%(refname)"])).stdout.toString().trim();
    expect(known).toBe("refs/remotes/origin/main");
  });

  it("builds an older commit of the branch, however deep, and refuses one that is on another branch only", async () => {
    const repository = testRepository({ "a.txt": "0" });
    const first = repository.git("rev-parse", "HEAD");
    for (let n = 1; n <= 130; n++) repository.commit({ "a.txt": String(n) });
    const near = repository.git("rev-parse", "HEAD~5");
    repository.git("checkout", "--quiet", "-b", "fork", "HEAD~3");
    const foreign = repository.commit({ "evil.txt": "x" });
    for (const commitSha of [first, near]) {
      const at = await surroundings();
      const source = sourceOf(repository.cloneUrl, { commitSha });
      const fetched = await fetchSource(source, at);
      expect(fetched.commitSha).toBe(commitSha);
      await checkOut(source, fetched, at, PLAIN);
      expect(readFileSync(join(at.workspace, "a.txt"), "utf8")).toBe(commitSha === first ? "0" : "125");
    }
    for (const commitSha of [foreign, "0123456789012345678901234567890123456789"]) {
      const failure = await failureOf(fetchSource(sourceOf(repository.cloneUrl, { commitSha }), await surroundings()));
      expect(failure.reason).toBe("commit-not-on-branch");
      expect(failure.message).toContain(commitSha);
    }
  });

  it.each([
    ["a tag", "refs/tags/v1.0"],
    ["a pull request's head", "refs/pull/7/head"],
    ["a branch with slashes", "feature/new/wheel"],
    ["a branch that would be a command", "x$(touch${IFS}marker)"],
    ["a branch that would be two", "a;touch${IFS}marker"],
    ["a branch in quotes", "it's`touch${IFS}marker`"],
  ])("takes %s for what it is", async (_, branch) => {
    const repository = testRepository({ "a.txt": "one" });
    const head = repository.git("rev-parse", "HEAD");
    repository.git("update-ref", branch.startsWith("refs/") ? branch : `refs/heads/${branch}`, head);
    const at = await surroundings();
    const source = sourceOf(repository.cloneUrl, { branch });
    const fetched = await fetchSource(source, at);
    await checkOut(source, fetched, at, PLAIN);
    expect(fetched.commitSha).toBe(head);
    expect(readdirSync(at.workspace).sort()).toEqual([".git", "a.txt"]);
  });

  it.each([
    ["a branch that is an option", { branch: "--upload-pack=touch marker" }],
    ["a branch that is a refspec", { branch: "main:refs/heads/x" }],
    ["a branch with a pattern", { branch: "*" }],
    ["an address that is an option", { repository: { fullName: "a/b", cloneUrl: "--upload-pack=touch marker.git" } }],
    ["a remote helper", { repository: { fullName: "a/b", cloneUrl: "ext::sh -c touch% marker.git" } }],
    ["a host that is an option", { repository: { fullName: "a/b", cloneUrl: "ssh://-oProxyCommand=touch/x.git" } }],
  ] as [string, Partial<Source>][])("refuses %s before git sees it", async (_, change) => {
    const at = await surroundings();
    const failure = await failureOf(fetchSource(sourceOf(testRepository({}).cloneUrl, change), at));
    expect(failure.reason).toBe("checkout-failed");
    expect(readFileSync(join(at.workspace, ".git/config"), "utf8")).not.toContain("remote");
    expect(readdirSync(at.workspace)).toEqual([".git"]);
  });

  it("allows file and http only where the service handed out such an address", async () => {
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
    const at = await surroundings();
    const source = sourceOf(repository.cloneUrl);
    const fetched = await fetchSource(source, at);
    const failure = await failureOf(checkOut(source, fetched, at, { ...PLAIN, submodules: "direct" }));
    expect(failure.message).toContain("not allowed");
    expect(existsSync(join(at.workspace, "marker"))).toBe(false);
  });

  it("fetches submodules, tags and history when asked to", async () => {
    const inner = testRepository({ "inner.txt": "x" });
    const repository = testRepository({ "a.txt": "one" });
    repository.git("tag", "v1");
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.cloneUrl, "inner");
    repository.commit({ "a.txt": "two" });
    const at = await surroundings();
    const source = sourceOf(repository.cloneUrl);
    const fetched = await fetchSource(source, at);
    await checkOut(source, fetched, at, { depth: 0, submodules: "recursive", lfs: false, fetchTags: true });
    expect(readFileSync(join(at.workspace, "inner/inner.txt"), "utf8")).toBe("x");
    const tags = await git(fetched.place, ["describe", "--tags", "HEAD"]);
    expect(tags.stdout.toString()).toMatch(/^v1-1-g/);
  });

  it("runs no hook, no filter of the repository's own and no template", async () => {
    const repository = testRepository({ ".gitattributes": "* filter=evil\n", "a.txt": "one" });
    const hooks = join(repository.folder, ".git/hooks");
    mkdirSync(hooks, { recursive: true });
    for (const name of ["post-checkout", "reference-transaction", "post-merge"]) {
      writeFileSync(join(hooks, name), `#!/bin/sh\ntouch ${join(repository.folder, "marker")}\n`);
      chmodSync(join(hooks, name), 0o755);
    }
    const at = await surroundings();
    const source = sourceOf(repository.cloneUrl);
    const fetched = await fetchSource(source, at);
    await checkOut(source, fetched, at, PLAIN);
    expect(existsSync(join(at.workspace, ".git/hooks"))).toBe(false);
    expect(existsSync(join(repository.folder, "marker"))).toBe(false);
  });

  it("tells a branch, a repository and a disk apart in its words", async () => {
    const repository = testRepository({});
    const noBranch = await failureOf(
      fetchSource(sourceOf(repository.cloneUrl, { branch: "gone" }), await surroundings()),
    );
    expect(noBranch).toMatchObject({ reason: "checkout-failed", message: expect.stringContaining("no such branch") });
    const noRepository = await failureOf(fetchSource(sourceOf("file:///nowhere/mill.git"), await surroundings()));
    expect(noRepository.message).toMatch(/there is no such repository.*git says:/s);
    expect(gitTrouble("git fetch", "fatal: write error: No space left on device").message).toContain("disk is full");
    expect(gitTrouble("git fetch", "fatal: could not read Username for 'https://h': x").message).toContain(
      "credential",
    );
    expect(gitTrouble("git fetch", "Host key verification failed.").message).toContain("known_hosts");
  });

  it("is cut short by a cancel", async () => {
    const cancel = new AbortController();
    const stuck = createServer(() => cancel.abort(new Error("canceled")));
    await new Promise<void>((resolve) => stuck.listen(0, "127.0.0.1", resolve));
    const { port } = stuck.address() as AddressInfo;
    const at = { ...(await surroundings()), signal: cancel.signal };
    const fetching = fetchSource(sourceOf(`http://127.0.0.1:${port}/mill.git`), at);
    await expect(fetching).rejects.toThrow("canceled");
    await at.tree.end(0);
    expect(at.tree.living()).toEqual([]);
    stuck.closeAllConnections();
    stuck.close();
  });
});

describe("the pipeline file of a commit", () => {
  const read = async (path: string, prepare: (folder: string) => void = () => {}): Promise<string> => {
    const repository = testRepository({ "good.yml": "steps: []\n", "folder/in/x.yml": "x" });
    prepare(repository.folder);
    repository.commit({});
    const at = await surroundings();
    const fetched = await fetchSource(sourceOf(repository.cloneUrl, { configPath: path }), at);
    return pipelineText(fetched, path, 100);
  };

  it("is read as the commit has it", async () => {
    expect(await read("good.yml")).toBe("steps: []\n");
    expect(await read("folder/in/x.yml")).toBe("x");
    expect(await read("an ünusual name.yml", (folder) => writeFileSync(join(folder, "an ünusual name.yml"), "é"))).toBe(
      "é",
    );
  });

  it("is read from a repository with the longer kind of hash", async () => {
    const repository = testRepository({ "a.yml": "steps: []", "b/c.txt": "c" }, "sha256");
    const at = await surroundings();
    const source = sourceOf(repository.cloneUrl, {
      configPath: "a.yml",
      commitSha: repository.git("rev-parse", "HEAD"),
    });
    const fetched = await fetchSource(source, at);
    expect(fetched.commitSha).toHaveLength(64);
    expect(pipelineText(fetched, "a.yml", 100)).toBe("steps: []");
    await checkOut(source, fetched, at, PLAIN);
    expect(readFileSync(join(at.workspace, "b/c.txt"), "utf8")).toBe("c");
  });

  it("may not be a link, nor lie behind one, nor be a folder, missing, a pattern or too large", async () => {
    const secret = join(testFolder(), "secret");
    writeFileSync(secret, "steps: [the secret]");
    const prepare = (folder: string): void => {
      symlinkSync(secret, join(folder, "link.yml"));
      symlinkSync("folder", join(folder, "behind"));
      writeFileSync(join(folder, "large.yml"), "x".repeat(101));
      expect(lstatSync(join(folder, "link.yml")).isSymbolicLink()).toBe(true);
    };
    const said = async (path: string) => (await failureOf(read(path, prepare))).message;
    expect(await said("link.yml")).toBe("link.yml: is a symbolic link: the pipeline file must be a regular file");
    expect(await said("behind/in/x.yml")).toContain("no such file");
    expect(await said("folder")).toContain("is no regular file");
    expect(await said("gone.yml")).toContain("no such file");
    expect(await said("good.yml/x.yml")).toContain("no such file");
    expect(await said("*.yml")).toContain("no such file");
    expect(await said("large.yml")).toContain("larger than 100 bytes");
    expect(await said("../good.yml")).toContain("no path inside");
  });
});

describe("the clone credential", () => {
  const TOKEN = "ghs_the-clone-token-of-the-test";

  it("reaches the host by git's question, is in no argument and no environment, and is gone afterwards", async () => {
    const asked: string[] = [];
    const host = createServer((request, response) => {
      asked.push(request.headers.authorization ?? "nothing");
      response.writeHead(401, { "WWW-Authenticate": 'Basic realm="mill"' }).end();
    });
    await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
    const cloneUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}/acme/mill.git`;
    const at = await surroundings();
    const repository = {
      fullName: "acme/mill",
      cloneUrl,
      credential: { kind: "token" as const, username: null, value: TOKEN },
    };
    const failure = await failureOf(fetchSource(sourceOf(cloneUrl, { repository }), at));
    host.close();
    host.closeAllConnections();
    expect(asked).toContain(`Basic ${Buffer.from(`x-access-token:${TOKEN}`).toString("base64")}`);
    expect(failure.message).not.toContain(TOKEN);
    expect(readFileSync(join(at.workspace, ".git/config"), "utf8")).not.toContain(TOKEN);
    expect(readdirSync(at.private)).toEqual(["workspace"]);
  });

  it("answers for its own host alone", async () => {
    const credential = { kind: "token" as const, username: "miller", value: TOKEN };
    const folder = testFolder();
    const ask = (prompt: string) =>
      withCredential(credential, "https://mill.example/a/b.git", folder, async ({ env, settings }) => {
        expect(JSON.stringify({ env, settings })).not.toContain(TOKEN);
        const place = { folder, protocols: [], tree: new ProcessTree(BUILD) };
        return (await git(place, ["-c", `alias.ask=!${env?.GIT_ASKPASS} "$@" #`, "ask", prompt])).stdout
          .toString()
          .trim();
      });
    expect(await ask("Username for 'https://mill.example': ")).toBe("miller");
    expect(await ask("Password for 'https://miller@mill.example': ")).toBe(TOKEN);
    expect(await ask("Password for 'https://miller@evil.example': ")).toBe("");
    expect(await ask("Password for 'https://mill.example.evil.example': ")).toBe("");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("gives a key to ssh as a file that only its user can read", async () => {
    const folder = testFolder();
    const credential = { kind: "ssh-key" as const, username: null, value: "-----BEGIN KEY-----" };
    await withCredential(credential, "git@mill.example:a/b.git", folder, async ({ env }) => {
      const path = /-i '([^']+)'/.exec(env?.GIT_SSH_COMMAND ?? "")?.[1] ?? "";
      expect(lstatSync(path).mode & 0o777).toBe(0o600);
      expect(readFileSync(path, "utf8")).toBe("-----BEGIN KEY-----\n");
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});
