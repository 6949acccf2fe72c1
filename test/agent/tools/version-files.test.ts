import fc from "fast-check";
import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import { configText, lockedTools, withChecksums } from "../../../src/agent/tools/mise-files.ts";
import { toolsInFiles } from "../../../src/agent/tools/version-files.ts";
import { isToolName, versionProblem } from "../../../src/pipeline/fields/tool-fields.ts";

const read = (files: Record<string, string>) => toolsInFiles(new Map(Object.entries(files)));

describe("files that name tools", () => {
  it("are read as text; the first file that names a tool decides", () => {
    expect(
      read({
        "mise.toml":
          '[env]\n_.source = "x.sh"\n[tools]\nnode = { version = "24", postinstall = "rm -rf /" }\n"npm:prettier" = ["3", "2"]\n[hooks]\nenter = "x"\n',
        ".tool-versions": "# comment\nnodejs 20.1.0\npython 3.12.1 3.11.0 # two\n\n",
        ".nvmrc": "v18\n",
        ".python-version": "3.9\n",
      }),
    ).toEqual([
      { name: "node", version: "24", from: "mise.toml" },
      { name: "npm:prettier", version: "3", from: "mise.toml" },
      { name: "python", version: "3.12.1", from: ".tool-versions" },
    ]);
  });

  it.each([
    ["v24.1.0", "24.1.0"],
    ["lts/*", "lts"],
    ["lts/Iron", "lts-iron"],
    ["node", "latest"],
    ["# first\n22", "22"],
  ])("accept nvm's words: %s is %s", (written, version) => {
    expect(read({ ".nvmrc": `${written}\n` })).toEqual([{ name: "node", version, from: ".nvmrc" }]);
  });

  it.each([
    [{ "mise.toml": "[tools]\nnode = \"{{ exec(command='x') }}\"\n" }, "mise.toml: invalid version of node"],
    [{ "mise.toml": '[tools]\n"vfox:a/b" = "1"\n' }, "mise.toml: unknown tool vfox:a/b"],
    [{ "mise.toml": '[tools]\n"asdf:https://evil/x" = "1"\n' }, "mise.toml: unknown tool asdf:https://evil/x"],
    [{ "mise.toml": "[tools\n" }, "mise.toml: it is not valid TOML"],
    [{ ".tool-versions": "node path:/etc\n" }, ".tool-versions: invalid version of node"],
    [{ ".tool-versions": "node ref:main\n" }, ".tool-versions: invalid version of node"],
    [{ ".tool-versions": "__proto__ 1\n" }, ".tool-versions: unknown tool __proto__"],
    [{ ".python-version": "../../x\n" }, ".python-version: invalid version of python"],
  ])("are rejected with the tool's name: %j", (files, message) => {
    expect(() => read(files as Record<string, string>)).toThrow(message);
  });

  it("result in no tools if they name none", () => {
    expect(read({ "mise.toml": "[env]\nA = 1\n", ".nvmrc": "\n" })).toEqual([]);
  });
});

const SUM = `sha256:${"a".repeat(64)}`;
const LOCK = `[[tools.node]]
version = "24.21.0"
backend = "core:node"
[tools.node."platforms.linux-x64"]
checksum = "${SUM}"
url = "http://evil.invalid/node.tar.gz"
`;

describe("a lock file", () => {
  it("provides the version and this machine's checksum, but no address", () => {
    const locked = lockedTools(LOCK, [{ name: "node", version: "24" }], "linux-x64");
    expect(locked).toEqual([{ name: "node", version: "24.21.0", checksum: SUM }]);
    expect(lockedTools(LOCK, [{ name: "node", version: "24" }], "macos-arm64")).toEqual([]);
    expect(lockedTools(LOCK, [{ name: "node", version: "2" }], "linux-x64")).toEqual([]);
    expect(lockedTools("no toml [", [{ name: "node", version: "24" }], "linux-x64")).toEqual([]);
    expect(lockedTools(LOCK.replace(SUM, "md5:1"), [{ name: "node", version: "24" }], "linux-x64")).toEqual([]);
  });

  it("from mise itself keeps its addresses, with the repository's checksums", () => {
    const locked = [{ name: "node", version: "24.21.0", checksum: `sha256:${"b".repeat(64)}` }];
    const own = LOCK.replace("evil", "mirror");
    const { text, unchecked } = withChecksums(own, locked, "linux-x64");
    expect({ text, unchecked }).toMatchObject({ unchecked: [] });
    expect(text).toContain("http://mirror.invalid/node.tar.gz");
    expect(text).toContain("b".repeat(64));
    expect(text).not.toContain(SUM);
    expect(withChecksums(own.replace(/url.*\n/, ""), locked, "linux-x64").unchecked).toEqual(["node"]);
    expect(withChecksums("", locked, "linux-x64").unchecked).toEqual(["node"]);
  });
});

describe("the configuration that the agent writes", () => {
  it("contains exactly these tools, whatever is valid as a name and a version", () => {
    const name = fc
      .oneof(
        fc.constantFrom("node", "java"),
        fc.string().map((text) => `npm:${text}`),
      )
      .filter(isToolName);
    const version = fc.string({ unit: "binary-ascii" }).filter((text) => versionProblem(text) === null);
    fc.assert(
      fc.property(fc.uniqueArray(fc.record({ name, version }), { selector: (tool) => tool.name }), (tools) => {
        const expected = Object.fromEntries(tools.map((tool) => [tool.name, tool.version]));
        expect(parse(configText(tools))).toEqual({ tools: expected });
      }),
    );
    expect(versionProblem('24"\n[hooks]')).not.toBeNull();
    expect(isToolName('npm:x"]')).toBe(false);
  });
});
