import { parseArgs } from "node:util";
import { serveBundled } from "../support/served-worker.ts";
import { keptIn } from "../support/storage.ts";
import { fuzz } from "./fuzz.ts";

const { values } = parseArgs({ options: { seed: { type: "string" }, requests: { type: "string", default: "10000" } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
const requests = Number(values.requests);
console.log(`seed ${seed}, ${requests} requests`);
const service = await keptIn("memory", serveBundled);
const begun = performance.now();
const said = (done: number) => {
  if (done % 10_000 === 0) console.log(`${done} ...`);
};
const { violations, statuses, neverObeyed, requests: sent } = await fuzz(service, { seed, requests, said });
await service.stop();
console.log(
  `${sent} requests in ${((performance.now() - begun) / 1000).toFixed(0)} s, by status: ${JSON.stringify(statuses)}`,
);
for (const { request, what } of violations) console.log(`${what}\n  ${request}`);
if (neverObeyed.length > 0) console.log(`never obeyed: ${neverObeyed.join(", ")}`);
console.log(`${violations.length} violations`);
process.exitCode = violations.length > 0 ? 1 : 0;
