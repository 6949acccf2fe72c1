import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isRecentEnough, MISE_VERSION } from "../../../src/agent/tools/mise-release.ts";
import { miseEnvironment } from "../../../src/agent/tools/run-mise.ts";
import { installedVersions, toolEnvironment, withTools } from "../../../src/agent/tools/tool-environment.ts";
import { chosenXcode, findXcodes } from "../../../src/agent/tools/xcodes.ts";
import { testFolder } from "../support/folder.ts";

describe("the tools' environment for steps", () => {
  it("contains only folders and variables inside the build's tools", () => {
    const printed = JSON.stringify({
      PATH: "/b/tools/data/node/bin:/evil:/b/tools/data/../../x:/usr/bin",
      JAVA_HOME: "/b/tools/data/java",
      GOROOT: "/etc",
      LD_PRELOAD: "/b/tools/data/x.so",
      BASH_ENV: "/b/tools/data/x.sh",
      NODE_OPTIONS: "--require=/b/tools/data/x.js",
      RUSTUP_TOOLCHAIN: "1.80",
      GOTOOLCHAIN: "a b",
    });
    const environment = toolEnvironment(printed, "/b/tools/data");
    expect(environment).toEqual({
      paths: ["/b/tools/data/node/bin"],
      variables: { JAVA_HOME: "/b/tools/data/java", RUSTUP_TOOLCHAIN: "1.80" },
    });
    expect(withTools({ PATH: "/usr/bin", A: "1" }, environment)).toEqual({
      ...{ A: "1", JAVA_HOME: "/b/tools/data/java", RUSTUP_TOOLCHAIN: "1.80" },
      PATH: "/b/tools/data/node/bin:/usr/bin",
    });
  });

  it("is empty if the answer is not JSON or has another shape", () => {
    for (const printed of ["", "{", "null", "[]", '{"PATH":1}'])
      expect(toolEnvironment(printed, "/b")).toEqual({ paths: [], variables: {} });
    expect(installedVersions('{"node":[{"version":"24.1.0","installed":false}],"a":[null],"b":3}').size).toBe(0);
    expect(installedVersions('{"node":[{"version":"24.1.0","installed":true}]}').get("node")).toBe("24.1.0");
  });
});

describe("mise's environment", () => {
  it("has the owner's proxies, certificates and mirrors, but no token", () => {
    const own = {
      PATH: "/usr/bin",
      https_proxy: "http://proxy:3128",
      NODE_EXTRA_CA_CERTS: "/ca.pem",
      MISE_NODE_MIRROR_URL: "http://mirror/",
      npm_config_registry: "https://npm.invalid/",
      NPM_CONFIG_REGISTRY: "https://user:password@npm.invalid/",
      GITHUB_TOKEN: "t0ken",
      MISE_GITHUB_TOKEN: "t0ken",
      NPM_TOKEN: "t0ken",
      npm_config__authtoken: "t0ken",
      MISE_ENV_FILE: "/etc/secrets",
      MILLRACE_TOKEN: "t0ken",
      HOME: "/root",
      MISE_DATA_DIR: "/root/.local",
    };
    const environment = miseEnvironment("/b/tools", own);
    expect(environment).toMatchObject({
      ...{ PATH: "/usr/bin", https_proxy: "http://proxy:3128", NODE_EXTRA_CA_CERTS: "/ca.pem" },
      ...{ MISE_NODE_MIRROR_URL: "http://mirror/", npm_config_registry: "https://npm.invalid/" },
      ...{ HOME: "/b/tools/home", MISE_DATA_DIR: "/b/tools/data", MISE_SAFE: "1" },
    });
    expect(JSON.stringify(environment)).not.toMatch(/t0ken|password|secrets|\/root/);
  });
});

describe("a mise release", () => {
  it.each([
    [MISE_VERSION, true],
    ["2026.9.14", false],
    ["2026.10.1", true],
    ["2025.12.30", false],
    ["2027.1.0", true],
    ["2026.9", false],
    ["x.y.z", false],
  ])("%s is recent enough: %s", (version, expected) => {
    expect(isRecentEnough(version)).toBe(expected);
  });
});

describe("the Xcodes in a folder of applications", () => {
  it("are found by their own version, the newest first", () => {
    const folder = testFolder();
    const add = (name: string, version: string | null): void => {
      mkdirSync(join(folder, name, "Contents/Developer"), { recursive: true });
      const plist = `<dict><key>CFBundleShortVersionString</key>\n\t<string>${version}</string></dict>`;
      if (version !== null) writeFileSync(join(folder, name, "Contents/version.plist"), plist);
    };
    add("Xcode.app", "26.1.1");
    add("Xcode-16.4.app", "16.4");
    add("Xcode_26.10.app", "26.10");
    add("Xcode-broken.app", null);
    add("Xcode-odd.app", "27 beta");
    add("Safari.app", "26.1");
    expect(findXcodes(folder).map(({ version }) => version)).toEqual(["26.10", "26.1.1", "16.4"]);
    expect(chosenXcode("26.1", findXcodes(folder))?.developerFolder).toBe(join(folder, "Xcode.app/Contents/Developer"));
    expect(chosenXcode("26", findXcodes(folder))?.version).toBe("26.10");
    expect(chosenXcode("2", findXcodes(folder))).toBeUndefined();
    expect(findXcodes(join(folder, "none"))).toEqual([]);
  });
});
