import { createHash } from "node:crypto";
import { build } from "esbuild";
import { VERSION } from "../protocol/version.ts";
import { type AgentProgram, atRunTime, PROGRAM } from "./agent.ts";
import { findPackages } from "./notices.ts";

const BANNER = `// Millrace importer ${VERSION}, for agent.mjs of the same release. THIRD-PARTY-NOTICES.txt beside it has the licences.
import { createRequire as __createRequire } from "node:module";
const require = __createRequire(import.meta.url);`;

/**
 * Bundles the importer of workflows into a file of its own, which the agent loads for `import` alone: its parser
 * imports JSON in a way that Node refuses, and is as large as the agent.
 */
export const importerProgram = async (): Promise<AgentProgram> => {
  const { metafile, outputFiles } = await build({
    ...PROGRAM,
    entryPoints: ["src/importer/main.ts"],
    outfile: "importer.mjs",
    plugins: [atRunTime],
    banner: { js: BANNER },
  });
  const text = outputFiles[0]?.text ?? "";
  const packages = findPackages(Object.keys(metafile.inputs));
  return { text, sha256: createHash("sha256").update(text).digest("hex"), packages };
};
