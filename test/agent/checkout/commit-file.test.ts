import { lstatSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkOut, fetchSource } from "../../../src/agent/checkout/checkout.ts";
import { pipelineText } from "../../../src/agent/checkout/commit-file.ts";
import { failureOf, makeCheckoutContext, PLAIN, sourceOf } from "../support/checkout.ts";
import { testFolder } from "../support/folder.ts";
import { testRepository } from "../support/repository.ts";

describe("a commit's pipeline file", () => {
  const read = async (path: string, prepare: (folder: string) => void = () => {}): Promise<string> => {
    const repository = testRepository({ "good.yml": "steps: []\n", "folder/in/x.yml": "x" });
    prepare(repository.folder);
    repository.commit({});
    const at = await makeCheckoutContext();
    const fetched = await fetchSource(sourceOf(repository.cloneUrl, { configPath: path }), at);
    return pipelineText(fetched, path, 100);
  };

  it("is read from the commit", async () => {
    expect(await read("good.yml")).toBe("steps: []\n");
    expect(await read("folder/in/x.yml")).toBe("x");
    expect(await read("an ünusual name.yml", (folder) => writeFileSync(join(folder, "an ünusual name.yml"), "é"))).toBe(
      "é",
    );
  });

  it("is read from a SHA-256 repository", async () => {
    const repository = testRepository({ "a.yml": "steps: []", "b/c.txt": "c" }, "sha256");
    const at = await makeCheckoutContext();
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

  it("is rejected as a link, behind a link, as a folder, missing, as a pattern, too large or not UTF-8", async () => {
    const secret = join(testFolder(), "secret");
    writeFileSync(secret, "steps: [the secret]");
    const prepare = (folder: string): void => {
      symlinkSync(secret, join(folder, "link.yml"));
      symlinkSync("folder", join(folder, "behind"));
      writeFileSync(join(folder, "large.yml"), "x".repeat(101));
      writeFileSync(join(folder, "latin1.yml"), Buffer.from("steps: [caf\xe9]", "latin1"));
      writeFileSync(join(folder, "utf16.yml"), Buffer.from("\ufeffsteps: []", "utf16le"));
      expect(lstatSync(join(folder, "link.yml")).isSymbolicLink()).toBe(true);
    };
    const said = async (path: string) => (await failureOf(read(path, prepare))).message;
    expect(await said("link.yml")).toBe("link.yml: is a symbolic link: the pipeline file must be a regular file");
    expect(await said("behind/in/x.yml")).toContain("no such file");
    expect(await said("folder")).toContain("is not a regular file");
    expect(await said("gone.yml")).toContain("no such file");
    expect(await said("good.yml/x.yml")).toContain("no such file");
    expect(await said("*.yml")).toContain("no such file");
    expect(await said("large.yml")).toContain("larger than 100 bytes");
    expect(await said("latin1.yml")).toBe("latin1.yml: is not UTF-8: save it in that encoding");
    expect(await said("utf16.yml")).toContain("is not UTF-8");
    expect(await said("../good.yml")).toContain("must be a path inside");
  });

  it("is read under a name with a meaning in git, and with a very long message and path", async () => {
    const repository = testRepository({ "a:b.yml": "colon", ":(top)x.yml": "magic", "x*.yml": "star" });
    const message = "m".repeat(5 * 1024 * 1024);
    writeFileSync(join(repository.folder, "../message"), message);
    repository.git("commit", "--quiet", "--allow-empty", "--file", join(repository.folder, "../message"));
    const files = { "a:b.yml": "colon", ":(top)x.yml": "magic", "x*.yml": "star" };
    for (const [configPath, text] of Object.entries(files)) {
      const fetched = await fetchSource(sourceOf(repository.cloneUrl, { configPath }), await makeCheckoutContext());
      expect(pipelineText(fetched, configPath, 100)).toBe(text);
      expect(message.startsWith(fetched.message)).toBe(true);
    }
    repository.commit({ "large.yml": "x".repeat(5 * 1024 * 1024) });
    const source = sourceOf(repository.cloneUrl, { configPath: "large.yml" });
    const fetched = await fetchSource(source, await makeCheckoutContext());
    expect(() => pipelineText(fetched, "large.yml", 100)).toThrow("large.yml: is larger than 100 bytes");
    expect(fetched.message).toBe("change");
  });
});

describe("a commit's message", () => {
  const messageOf = async (headers: string, message: Buffer): Promise<string> => {
    const { cloneUrl, folder, git } = testRepository({ "a.yml": "" });
    const by = (who: string): string => `${who} A. Miller <a@mill.invalid> 1700000000 +0000\n`;
    const object = join(folder, ".git/object");
    const tree = `tree ${git("rev-parse", "HEAD^{tree}")}\n`;
    writeFileSync(object, Buffer.concat([Buffer.from(`${tree}${by("author")}${by("committer")}${headers}`), message]));
    git("update-ref", "HEAD", git("hash-object", "-t", "commit", "-w", "--literally", object));
    return (await fetchSource(sourceOf(cloneUrl), await makeCheckoutContext())).message;
  };

  it("is decoded with the commit's encoding, or as UTF-8 if that is missing or unknown", async () => {
    const latin1 = Buffer.from("caf\xe9\n", "latin1");
    expect(await messageOf("encoding ISO-8859-1\n\n", latin1)).toBe("café");
    expect(await messageOf("gpgsig -----\n encoding ISO-8859-1\n\n", Buffer.from("café\n"))).toBe("café");
    expect(await messageOf("encoding Klingon-8\n\n", Buffer.from("café\n"))).toBe("café");
    expect(await messageOf("\n", Buffer.from("encoding ISO-8859-1\n\ncafé\n"))).toBe("encoding ISO-8859-1\n\ncafé");
  });

  it("is empty if the commit has none", async () => {
    expect(await messageOf("", Buffer.alloc(0))).toBe("");
  });
});
