import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROUTES } from "../../src/api/routes.ts";
import { ROOT } from "../../src/local/service.ts";
import { serveBundled } from "../support/served-worker.ts";
import { replay } from "./replay.ts";
import { SCENARIO } from "./scenario.ts";
import { toExamples } from "./to-examples.ts";

/* Sends the scenario to the real service and writes its exchanges as the examples of the description. */
const { url, operator, stop } = await serveBundled();
const examples = toExamples(await replay((path, init) => fetch(url + path, init), operator.token, ROUTES, SCENARIO));
await stop();
writeFileSync(join(ROOT, "src/api/description/examples.json"), `${JSON.stringify(examples, null, 2)}\n`);
