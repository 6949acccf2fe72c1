import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROUTES } from "../../src/api/routes.ts";
import { ROOT } from "../../src/local/service.ts";
import { serveBundled } from "../support/served-worker.ts";
import { examplesOf } from "./examples.ts";
import { replay } from "./replay.ts";
import { STORY } from "./story.ts";

/* Plays the story to the real service and keeps what was said as the description's examples. */
const { url, operator, stop } = await serveBundled();
const examples = examplesOf(await replay((path, init) => fetch(url + path, init), operator.token, ROUTES, STORY));
await stop();
writeFileSync(join(ROOT, "src/api/description/examples.json"), `${JSON.stringify(examples, null, 2)}\n`);
