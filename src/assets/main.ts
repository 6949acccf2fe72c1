import { VERSION } from "../protocol/version.ts";
import { agentProgram } from "./agent.ts";
import { buildAssets } from "./build.ts";
import { writeDocuments } from "./documents.ts";
import { noticesOf } from "./notices.ts";

const [packages, agent] = await Promise.all([buildAssets(), agentProgram()]);
const distributed = [...new Set([...packages, ...agent.packages, "node_modules/swagger-ui-dist"])].sort();
writeDocuments(agent, noticesOf(distributed));
console.log(`agent.mjs ${VERSION} sha256 ${agent.sha256}`);
