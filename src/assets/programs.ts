import { createHash } from "node:crypto";
import { build, type Plugin } from "esbuild";
import { VERSION } from "../protocol/version.ts";
import { collectNotices, findPackages } from "./notices.ts";
import { ROOT } from "./output-files.ts";

/** The oldest Node version that can run the program. `npm run drill -- nodes` tests it. */
export const OLDEST_NODE = "20.9";
const [MAJOR, MINOR] = OLDEST_NODE.split(".");

/** The program's first lines. They reject an old Node with a message, before an import can fail without one. */
const AGENT_BANNER = `#!/usr/bin/env node
// Millrace agent ${VERSION}. \`node agent.mjs acknowledgements\` prints its packages' licenses.
import { createRequire as __createRequire } from "node:module";
const [__major, __minor] = process.versions.node.split(".").map(Number);
if (__major < ${MAJOR} || (__major === ${MAJOR} && __minor < ${MINOR})) {
  process.stderr.write("The Millrace agent requires Node ${OLDEST_NODE} or newer, but " + process.execPath + " is Node " + process.versions.node + ". Install Node 24.\\n");
  process.exit(process.env.MILLRACE_LAUNCHD_LOG ? 0 : 2);
}
const require = __createRequire(import.meta.url);`;

/** Loads Node's own modules on first use, and only the version from package.json. */
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

/** Options for bundling programs for people's machines. Each program is one file that needs only Node. */
const PROGRAM = {
  absWorkingDir: ROOT,
  write: false,
  metafile: true,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node18",
  legalComments: "none",
} as const;

const bundle = (acknowledgements: string) =>
  build({
    ...PROGRAM,
    entryPoints: ["src/agent/main.ts"],
    outfile: "agent.mjs",
    external: ["bufferutil", "utf-8-validate"],
    plugins: [atRunTime],
    banner: { js: AGENT_BANNER },
    define: { ACKNOWLEDGEMENTS: JSON.stringify(acknowledgements) },
  });

export interface AgentProgram {
  text: string;
  sha256: string;
  /** Folders of the packages in the program. */
  packages: string[];
}

/** Bundles the agent into one file that needs only Node. */
export const agentProgram = async (): Promise<AgentProgram> => {
  const { metafile } = await bundle("");
  const packages = findPackages(Object.keys(metafile.inputs));
  const { outputFiles } = await bundle(collectNotices(packages));
  const text = outputFiles[0]?.text ?? "";
  return { text, sha256: createHash("sha256").update(text).digest("hex"), packages };
};

const IMPORTER_BANNER = `// Millrace importer ${VERSION}, for agent.mjs of the same release. Its licenses are in THIRD-PARTY-NOTICES.txt.
import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);`;

/**
 * Bundles the workflow importer into a separate file, which the agent loads only for `import`. The importer's parser
 * imports JSON in a way that Node rejects, and is as large as the agent.
 */
export const importerProgram = async (): Promise<AgentProgram> => {
  const { metafile, outputFiles } = await build({
    ...PROGRAM,
    entryPoints: ["src/importer/main.ts"],
    outfile: "importer.mjs",
    plugins: [atRunTime],
    banner: { js: IMPORTER_BANNER },
  });
  const text = outputFiles[0]?.text ?? "";
  const packages = findPackages(Object.keys(metafile.inputs));
  return { text, sha256: createHash("sha256").update(text).digest("hex"), packages };
};
