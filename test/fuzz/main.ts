import { parseArgs } from "node:util";
import { serveBundled } from "../support/served-worker.ts";
import { withStorageIn } from "../support/storage-in.ts";
import { fuzz } from "./fuzz.ts";

const USAGE = `npm run fuzz -- [--requests N] [--seed S]

Sends N random requests (default 10000), made from the API's description by seed S (default: random), to the bundled
Worker. Compares each answer with the description, and the stored rows with the answers. Exit code 1: a comparison
failed.`;

const run = async (seed: number, requests: number): Promise<boolean> => {
  console.log(`seed ${seed}, ${requests} requests`);
  const service = await withStorageIn("memory", serveBundled);
  const started = performance.now();
  const onProgress = (done: number) => {
    if (done % 10_000 === 0) console.log(`${done} ...`);
  };
  const { findings, statuses, neverAccepted, requests: sent } = await fuzz(service, { seed, requests, onProgress });
  await service.stop();
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`${sent} requests in ${seconds} s, by status: ${JSON.stringify(statuses)}`);
  for (const { request, problem } of findings) console.log(`${problem}\n  ${request}`);
  if (neverAccepted.length > 0) console.log(`never accepted: ${neverAccepted.join(", ")}`);
  console.log(`${findings.length} findings`);
  return findings.length === 0;
};

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    requests: { type: "string", default: "10000" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) console.log(USAGE);
else {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
  process.exitCode = (await run(seed, Number(values.requests))) ? 0 : 1;
}
