import { parseArgs } from "node:util";
import { RULES } from "../../src/domain/pool/rules.ts";
import { History } from "./history.ts";
import { simulate, testMutants } from "./parallel.ts";
import type { Summary } from "./run.ts";

const USAGE = `npm run simulate -- [--histories N] [--seed S]     plays N histories (20000) of seed S (1)
npm run simulate -- --mutants [--seed S]           plays wrong machines until the checks see them
npm run simulate -- --seed S --history I           replays one history, with every call and answer`;

const replay = (seed: number, index: number): void => {
  const history = new History(seed, index, RULES, (now, verb, input, answer) => {
    console.log(new Date(now).toISOString(), verb, JSON.stringify(input), "->", JSON.stringify(answer));
  });
  history.run();
  console.log("Nothing that must never happen happened.");
};

const print = (seed: number, { histories, commands, faults, failures }: Summary, seconds: number): void => {
  console.log(`${histories} histories of seed ${seed}, ${commands} commands, ${seconds.toFixed(1)} s`);
  const sorted = Object.entries(faults).sort(([, left], [, right]) => right - left);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  console.log(`${total} faults: ${sorted.map(([fault, count]) => `${fault} ${count}`).join(", ")}`);
  console.log(`${failures.length} violations`);
  for (const { history, message } of failures.slice(0, 20)) {
    console.log(`  ${message}\n    npm run simulate -- --seed ${seed} --history ${history}`);
  }
};

const huntAll = async (seed: number): Promise<boolean> => {
  const hunts = await testMutants(seed, 1000);
  for (const { name, killedAfter, what } of hunts) {
    console.log(killedAfter === null ? "NOT SEEN" : `seen after ${killedAfter}`, "-", name, what ? `(${what})` : "");
  }
  const seen = hunts.filter(({ killedAfter }) => killedAfter !== null).length;
  console.log(`${seen} of ${hunts.length} mutants were seen within 1000 histories`);
  return seen === hunts.length;
};

const { values } = parseArgs({
  options: {
    histories: { type: "string", default: "20000" },
    seed: { type: "string", default: "1" },
    history: { type: "string" },
    mutants: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed);
const started = performance.now();
if (values.help) console.log(USAGE);
else if (values.history !== undefined) replay(seed, Number(values.history));
else if (values.mutants) process.exitCode = (await huntAll(seed)) ? 0 : 1;
else {
  const tally = await simulate(seed, Number(values.histories), ({ histories }) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${histories}`);
  });
  print(seed, tally, (performance.now() - started) / 1000);
  process.exitCode = tally.failures.length > 0 ? 1 : 0;
}
