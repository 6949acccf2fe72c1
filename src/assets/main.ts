import { buildAssets } from "./build.ts";
import { writeDocuments } from "./documents.ts";

await Promise.all([buildAssets(), writeDocuments()]);
