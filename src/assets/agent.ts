import { createHash } from "node:crypto";
import { build, type Plugin } from "esbuild";
import { VERSION } from "../protocol/version.ts";
import { noticesOf, packagesOf } from "./notices.ts";
import { ROOT } from "./output-files.ts";

/** The oldest Node the program runs on: `npm run drill -- nodes` tries it. */
export const OLDEST_NODE = "20.9";
const [MAJOR, MINOR] = OLDEST_NODE.split(".");

/** Stands first, so that a Node which is too old says so: static imports would end it before any line ran. */
const BEGINNING = `#!/usr/bin/env node
// Millrace agent ${VERSION}. \`node agent.mjs acknowledgements\` prints the licences of what it is made with.
import { createRequire as __createRequire } from "node:module";
const [__major, __minor] = process.versions.node.split(".").map(Number);
if (__major < ${MAJOR} || (__major === ${MAJOR} && __minor < ${MINOR})) {
  process.stderr.write("The Millrace agent needs Node ${OLDEST_NODE} or newer, and " + process.execPath + " is Node " + process.versions.node + ": install Node 24.\\n");
  process.exit(process.env.MILLRACE_LAUNCHD_LOG ? 0 : 2);
}
const require = __createRequire(import.meta.url);`;

/** Node's own modules are asked for by name only when they are used; of package.json the version is all that is taken. */
const atRunTime: Plugin = {
  name: "at-run-time",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === "import-statement" ? { path, namespace: "node" } : { path, external: true },
    );
    onLoad({ filter: /./, namespace: "node" }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
    onLoad({ filter: /[/]package[.]json$/ }, () => ({
      contents: JSON.stringify({ version: VERSION }),
      loader: "json",
    }));
  },
};

const bundle = (acknowledgements: string) =>
  build({
    ...{ entryPoints: ["src/agent/main.ts"], absWorkingDir: ROOT, outfile: "agent.mjs", write: false, metafile: true },
    ...{ bundle: true, platform: "node", format: "esm", target: "node18", legalComments: "none" },
    ...{ external: ["bufferutil", "utf-8-validate"], plugins: [atRunTime], banner: { js: BEGINNING } },
    define: { ACKNOWLEDGEMENTS: JSON.stringify(acknowledgements) },
  });

export interface AgentProgram {
  text: string;
  sha256: string;
  /** The packages that are in it. */
  packages: string[];
}

/** The one file that a build machine installs: it needs Node and nothing else. */
export const agentProgram = async (): Promise<AgentProgram> => {
  const { metafile } = await bundle("");
  const packages = packagesOf(Object.keys(metafile.inputs));
  const { outputFiles } = await bundle(noticesOf(packages));
  const text = outputFiles[0]?.text ?? "";
  return { text, sha256: createHash("sha256").update(text).digest("hex"), packages };
};
