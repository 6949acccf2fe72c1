import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { resolve } from "node:path";

/** What the agent's packages expect of a program that is no module: they were written for `require`. */
const REQUIRE =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

/** Makes the one file that a build machine installs; it needs Node 20 or newer and nothing else. */
const bundle = (outfile: string): void => {
  execFileSync(
    createRequire(import.meta.url).resolve("esbuild/bin/esbuild"),
    [
      resolve(import.meta.dirname, "main.ts"),
      `--outfile=${outfile}`,
      "--bundle",
      "--platform=node",
      "--target=node20",
      "--format=esm",
      "--legal-comments=eof",
      "--log-level=warning",
      "--external:bufferutil",
      "--external:utf-8-validate",
      `--banner:js=#!/usr/bin/env node\n${REQUIRE}`,
    ],
    { stdio: "inherit" },
  );
};

bundle(resolve(process.argv[2] ?? "dist/agent.mjs"));
