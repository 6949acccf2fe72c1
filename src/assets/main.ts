import { buildAssets } from "./build.ts";

await buildAssets();
