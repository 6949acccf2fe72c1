import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fetchSource } from "../../../src/agent/checkout/checkout.ts";
import { parseInCommit, readIncluded } from "../../../src/agent/checkout/included-files.ts";
import { makeCheckoutContext, sourceOf } from "../support/checkout.ts";
import { testFolder } from "../support/folder.ts";
import { testRepository } from "../support/repository.ts";

const fetched = async (files: Record<string, string>, prepare: (folder: string) => void = () => {}, hash = "sha1") => {
  const repository = testRepository({ ".millrace.yml": "", ...files }, hash);
  prepare(repository.folder);
  repository.commit({});
  return { repository, commit: await fetchSource(sourceOf(repository.cloneUrl), await makeCheckoutContext()) };
};

const RUN = "steps: [{ run: x }]\n";

describe("included files of a commit", () => {
  it.each(["sha1", "sha256"])("are read from its objects (%s)", async (hash) => {
    const files = { "ci/a.yml": "a é\r\n", "ci/an ünusual name": "", "b.yml": "b" };
    const { commit } = await fetched(files, undefined, hash);
    const found = await readIncluded(commit, Object.keys(files));
    expect(Object.fromEntries(found)).toEqual({
      "ci/a.yml": { text: "a é\r\n" },
      "ci/an ünusual name": { text: "" },
      "b.yml": { text: "b" },
    });
  });

  it("are rejected as links, behind links, as folders, submodules, missing files and patterns", async () => {
    const secret = join(testFolder(), "secret.yml");
    writeFileSync(secret, RUN);
    const { commit, repository } = await fetched({ "ci/a.yml": RUN }, (folder) => {
      symlinkSync(secret, join(folder, "link.yml"));
      symlinkSync("ci", join(folder, "behind"));
    });
    repository.git("update-index", "--add", "--cacheinfo", `160000,${commit.commitSha},module`);
    repository.git("commit", "--quiet", "-m", "module");
    const again = await fetchSource(sourceOf(repository.cloneUrl), await makeCheckoutContext());
    const paths = ["link.yml", "behind", "behind/a.yml", "module", "gone.yml", "ci/*.yml", ":(glob)**", "ci/a.yml/b"];
    const found = await readIncluded(again, paths);
    expect((await readIncluded(again, ["ci"])).get("ci")).toEqual({
      problem: "ci is a folder: only a regular file can be included",
    });
    const none = (path: string) => ({ problem: `Commit ${again.commitSha} has no file ${path}` });
    expect(Object.fromEntries(found)).toEqual({
      "link.yml": { problem: "link.yml is a symbolic link: only a regular file can be included" },
      behind: { problem: "behind is a symbolic link: only a regular file can be included" },
      module: { problem: "module is a submodule: only a regular file can be included" },
      ...Object.fromEntries(
        ["behind/a.yml", "gone.yml", "ci/*.yml", ":(glob)**", "ci/a.yml/b"].map((path) => [path, none(path)]),
      ),
    });
  });

  it("are rejected if too large, alone or together, and if not UTF-8", async () => {
    const large = "é".repeat(131_072);
    const many = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`m${n}`, large]));
    const { commit } = await fetched({ "10MB": "x".repeat(10_000_000), ...many }, (folder) => {
      writeFileSync(join(folder, "latin1"), Buffer.from("caf\xe9", "latin1"));
      mkdirSync(join(folder, "empty"));
    });
    const found = await readIncluded(commit, ["10MB", "latin1", ...Object.keys(many)]);
    expect(found.get("10MB")).toEqual({ problem: "10MB is larger than 262144 bytes" });
    expect(found.get("latin1")).toEqual({ problem: "latin1 is not UTF-8" });
    expect(found.get("m0")).toEqual({ text: large });
    expect(found.get("m5")).toEqual({ problem: "The files included up to here are too large in total" });
  });

  it("are read one level at a time, at most 3 levels deep", async () => {
    const include = (path: string) => `steps: [{ include: ./${path} }]\n`;
    const { commit } = await fetched({ a: include("b"), b: include("c"), c: include("d"), d: RUN, e: RUN });
    const { parsed, includes } = await parseInCommit(include("a"), commit);
    expect(parsed.mistakes).toMatchObject([{ file: "c", message: "Files are included at most 3 deep" }]);
    expect(includes.map(({ path }) => path)).toEqual(["a", "b", "c"]);
    const good = await parseInCommit(include("c").replace("]", ", { include: ./e }]"), commit);
    expect(good).toMatchObject({
      parsed: { plan: { jobs: null } },
      includes: [{ path: "c" }, { path: "d" }, { path: "e" }],
    });
  });
});
