import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { collectNotices, findPackages, MISSING_LICENCES } from "../../src/assets/notices.ts";
import { ROOT } from "../../src/assets/output-files.ts";
import { agentProgram as bundled, OLDEST_NODE } from "../../src/assets/programs.ts";
import { runAgentCli } from "./support/agent-cli.ts";
import { testFolder } from "./support/folder.ts";

const { text, sha256, packages } = await bundled();

const program = (): { file: string; folder: string } => {
  const folder = testFolder();
  const file = join(folder, "agent.mjs");
  writeFileSync(file, text, { mode: 0o644 });
  return { file, folder };
};

describe("the agent as one file", () => {
  it("runs by itself", async () => {
    const { file, folder } = program();
    writeFileSync(join(folder, "p.yml"), "steps:\n  - run: echo from the bundle\n");
    const run = (...args: string[]) => runAgentCli(args, { program: file, cwd: folder, env: { HOME: folder } }).ended;
    expect(await run("--help")).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("register") });
    expect(await run("run", "p.yml")).toMatchObject({ code: 0, stdout: expect.stringContaining("from the bundle\n") });
    expect(await run("status")).toMatchObject({ code: 3, stderr: expect.stringContaining(join(folder, ".millrace")) });
    expect(await run("--version")).toEqual({ code: 0, stderr: "", stdout: `${packageJson.version}\n` });
  });

  it("has the same bytes in every build, so that people can compare its checksum", async () => {
    expect((await bundled()).text).toBe(text);
    expect(sha256).toBe(createHash("sha256").update(text).digest("hex"));
  });

  it("contains only the version from package.json", () => {
    expect(text).not.toContain("vitest");
  });
});

describe("an old Node", () => {
  const pretend = (version: string) => {
    const change = `Object.defineProperty(process.versions, "node", { value: "${version}" })`;
    return `--import=data:text/javascript,${encodeURIComponent(change)}`;
  };
  const versionOn = (node: string, env: Record<string, string> = {}) => {
    const { file } = program();
    return runAgentCli(["--version"], { program: file, env: { NODE_OPTIONS: pretend(node), ...env } }).ended;
  };

  it.each(["16.20.2", "18.19.0", "20.8.1"])(
    "%s: the program says in one line that Node is too old",
    async (version) => {
      const { code, stdout, stderr } = await versionOn(version);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(
        new RegExp(`^The Millrace agent requires Node ${OLDEST_NODE} or newer, but /\\S+ is Node ${version}. .*\n$`),
      );
      expect((await versionOn(version, { MILLRACE_LAUNCHD_LOG: "/dev/null" })).code).toBe(0);
    },
  );

  it.each(["20.9.0", "21.0.0", "24.21.0"])("%s: the program runs", async (version) => {
    expect(await versionOn(version)).toMatchObject({ code: 0, stderr: "" });
  });

  it("parses the program up to the version check", () => {
    expect([...text.matchAll(/^(?:import\b|}\s*from\b).*/gm)].map(([line]) => line)).toEqual([
      'import { createRequire as __createRequire } from "node:module";',
    ]);
  });

  /** Each line names a module and its exports in that Node version. */
  const names = new Map(
    readFileSync(join(import.meta.dirname, `support/node-${OLDEST_NODE}-names.txt`), "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
      .map(([module = "", ...list]) => [module, new Set(list)]),
  );
  const unknownTo = (source: string): string[] =>
    [...source.matchAll(/^import \{([^}]*)\} from "(node:[^"]+)"/gm)].flatMap(([, list = "", module = ""]) =>
      list
        .split(",")
        .map((name) => name.trim().split(" as ")[0] ?? "")
        .filter((name) => name && !name.startsWith("type ") && !names.get(module)?.has(name)),
    );

  it("has every method that the program's own code calls, if it is the oldest supported version", () => {
    const since21 =
      /\b(?:Map|Object)\.groupBy\(|\bPromise\.(?:withResolvers|try)\(|\bArray\.fromAsync\(|\bRegExp\.escape\(/;
    expect(text).not.toMatch(since21);
    expect("const groups = Map.groupBy(list, keyOf);").toMatch(since21);
  });

  it("has every function that the program imports, if it is the oldest supported version", () => {
    const sources = globSync("src/{agent,domain,protocol}/**/*.ts", { cwd: ROOT });
    expect(sources.flatMap((path) => unknownTo(readFileSync(join(ROOT, path), "utf8")))).toEqual([]);
    expect(unknownTo('import {\n  inspect,\n  styleText as s,\n} from "node:util";')).toEqual(["styleText"]);
  });
});

describe("the notices", () => {
  it("cover every package in the program", async () => {
    const { file } = program();
    const { stdout } = await runAgentCli(["acknowledgements"], { program: file }).ended;
    expect(packages.map((folder) => folder.replace("node_modules/", ""))).toEqual([
      ...["@actions/expressions", "commander", "croner", "saxes", "smol-toml", "ws", "xmlchars", "yaml", "zod"],
    ]);
    for (const folder of packages) {
      const name = folder.replace("node_modules/", "");
      const licence = MISSING_LICENCES[name] ?? readFileSync(join(ROOT, folder, "LICENSE"), "utf8").trim();
      expect(stdout).toContain(`${name} `);
      expect(stdout).toContain(licence);
    }
  });

  it("fail for a package without a license", () => {
    const name = `.notices-${process.pid}`;
    const folder = join(ROOT, "node_modules", name);
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version: "1.0.0" }));
    expect(findPackages([`node_modules/${name}/index.js`, "src/agent/main.ts"])).toEqual([`node_modules/${name}`]);
    expect(() => collectNotices([`node_modules/${name}`])).toThrow("has no license file");
  });

  it("of a checkout name their location", async () => {
    const { code, stdout } = await runAgentCli(["acknowledgements"], { program: join(ROOT, "src/agent/main.ts") })
      .ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("node_modules") });
  });
});
