import { firstBroken } from "./history.ts";
import { JOB_MUTANTS } from "./settle-mutants.ts";

/* node test/queue/jobs/main.ts HISTORIES: plays more histories than the test, and prints where each mutant fails. */

const histories = Number(process.argv[2] ?? 20_000);
const found = firstBroken(histories);
console.log(found ? `seed ${found.seed}: ${found.broken.message}` : `${histories} histories: no law is broken`);
let escaped = 0;
for (const { name, breaks, rules } of JOB_MUTANTS) {
  const caught = firstBroken(histories, rules);
  if (!caught || !breaks.includes(caught.broken.law)) escaped++;
  console.log(`${name}: ${caught ? `seed ${caught.seed}: ${caught.broken.message}` : "escaped"}`);
}
process.exitCode = found || escaped > 0 ? 1 : 0;
