import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

interface Locked {
  optionalDependencies?: Record<string, string>;
  integrity?: string;
  resolved?: string;
  link?: boolean;
  hasInstallScript?: boolean;
}
type Lock = Record<string, Locked>;

const ROOT = join(import.meta.dirname, "../..");
const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), "utf8"));
const ours = (path: string): boolean => !path.includes("node_modules/");
const lock: Lock = Object.fromEntries(
  Object.entries(read("package-lock.json").packages as Lock).filter(([path, { link }]) => !link && !ours(path)),
);

const withoutHash = (packages: Lock): string[] =>
  Object.keys(packages).filter((path) => !/^sha512-/.test(packages[path]?.integrity ?? ""));

const nameOf = (path: string): string => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);

describe("the lockfile", () => {
  it("has a hash of every package for every platform", () => {
    expect(withoutHash(lock)).toEqual([]);
    for (const platform of ["darwin-64", "darwin-arm64", "linux-64", "linux-arm64"])
      expect(lock).toHaveProperty([`node_modules/@cloudflare/workerd-${platform}`]);
    const { integrity: _, ...bare } = lock["node_modules/workerd"] ?? {};
    expect(withoutHash({ ...lock, "node_modules/workerd": bare })).toEqual(["node_modules/workerd"]);
  });

  it("has every platform's build of a package, as npm ci requires", () => {
    const absent = (packages: Lock): string[] =>
      Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
        Object.keys(optionalDependencies).filter(
          (name) => !Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`)),
        ),
      );
    expect(absent(lock)).toEqual([]);
    const { "node_modules/@cloudflare/workerd-darwin-64": _, ...without } = lock;
    expect(absent(without)).toEqual(["@cloudflare/workerd-darwin-64"]);
  });

  it("names no download address", () => {
    expect(Object.values(lock).filter(({ resolved }) => resolved)).toEqual([]);
  });

  it("allows no package to run an install script", () => {
    const scripts = Object.keys(lock).filter((path) => lock[path]?.hasInstallScript);
    const { allowScripts } = read("package.json");
    expect(scripts.map((path) => [path, allowScripts[nameOf(path)]])).toEqual(scripts.map((path) => [path, false]));
    expect(scripts).not.toEqual([]);
  });
});

describe("a script of the project", () => {
  const run = (version: string) => {
    const pretend = `Object.defineProperty(process.versions, "node", { value: "${version}" })`;
    const args = ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`, "src/local/node-version.js"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
    return { status, said: stdout + stderr };
  };

  it.each(["18.19.0", "20.20.2", "22.17.1", "23.5.0"])("rejects Node %s in one line", (version) => {
    expect(run(version)).toEqual({
      status: 1,
      said: `Millrace needs Node 22.18 or newer, and this is Node ${version}: install Node 24, then run this again.\n`,
    });
  });

  it.each(["22.18.0", "23.6.0", "24.0.0", "26.1.0"])("accepts Node %s", (version) => {
    expect(run(version)).toEqual({ status: 0, said: "" });
  });

  it.runIf(process.platform === "linux")("runs by the Node that the lockfile names", () => {
    const version = execFileSync(join(ROOT, "node_modules/.bin/node"), ["--version"], { encoding: "utf8" });
    expect(version.trim()).toBe(`v${read("package.json").optionalDependencies[`node-linux-${process.arch}`]}`);
  });
});
