import { describe, expect, it } from "vitest";
import { tarMember } from "../../../src/agent/tools/mise-program.ts";
import { MISE_PACKAGE, MISE_VERSION } from "../../../src/agent/tools/mise-release.ts";
import { REGISTRY_NAMES, REGISTRY_VERSION } from "../../../src/pipeline/fields/tool-names.ts";

describe("the mise release", () => {
  it("is the release whose registry check uses", () => {
    expect(MISE_VERSION).toBe(REGISTRY_VERSION);
    expect(MISE_PACKAGE.file).toBe(`mise-linux-x64-${REGISTRY_VERSION}.tgz`);
    expect(Buffer.from(MISE_PACKAGE.sha512, "base64")).toHaveLength(64);
    expect(REGISTRY_NAMES.size).toBeGreaterThan(1000);
    for (const name of REGISTRY_NAMES) expect(name).toMatch(/^[a-z0-9][a-z0-9._+-]*$/i);
  });
});

const block = (name: string, size: string, type: string): Buffer => {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write(size, 124);
  header.write(type, 156);
  return header;
};

describe("a file in a tarball", () => {
  const tar = Buffer.concat([
    block("other", "00000000003", "0"),
    Buffer.alloc(512, "abc"),
    block("it", "00000000004", "2"),
    block("it", "00000000004", "0"),
    Buffer.alloc(512, "tool"),
    Buffer.alloc(1024),
  ]);

  it("is found by its name, but not as a link", () => {
    const withoutLink = Buffer.concat([tar.subarray(0, 1024), tar.subarray(1536)]);
    expect(tarMember(withoutLink, "it")?.toString()).toBe("tool");
    expect(tarMember(tar, "none")).toBeNull();
  });

  it("is null in a cut-off or invalid tarball", () => {
    const cut = Buffer.concat([tar.subarray(0, 1024), tar.subarray(1536, 2049)]);
    expect(tarMember(cut, "it")).toBeNull();
    expect(tarMember(Buffer.alloc(4096, 0xff), "it")).toBeNull();
    expect(tarMember(Buffer.alloc(0), "it")).toBeNull();
  });
});
