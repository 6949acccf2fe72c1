import { VERSION } from "../protocol/version.ts";
import { buildAssets } from "./build.ts";
import { writeDocuments } from "./documents.ts";
import { collectNotices } from "./notices.ts";
import { agentProgram, importerProgram } from "./programs.ts";
import { bundleWorker } from "./worker.ts";

const [packages, agent, importer] = await Promise.all([buildAssets(), agentProgram(), importerProgram()]);
const distributed = [
  ...new Set([...packages, ...agent.packages, ...importer.packages, "node_modules/swagger-ui-dist"]),
].sort();
writeDocuments(agent, importer, collectNotices(distributed));
// The bundle contains the addresses of the static files, which exist by now.
await bundleWorker();
console.log(`agent.mjs ${VERSION} sha256 ${agent.sha256}`);
