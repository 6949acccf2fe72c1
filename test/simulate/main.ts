import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { INVARIANTS } from "./invariants.ts";
import { MUTANTS } from "./mutants.ts";
import { type MutantResult, simulate, testMutants } from "./parallel.ts";
import { failureReport, type HistoryId, replay, replayCommand } from "./replay.ts";
import type { Summary } from "./run.ts";
import { LEGEND } from "./trace.ts";
import { ofMutant } from "./wrong-machine.ts";

const MAX_MUTANT_HISTORIES = 2_000;
const FIRST_SEEN = join(import.meta.dirname, "first-seen.json");
const MAX_PRINTED_FAILURES = 20;

const USAGE = `Random histories against the queue and lease machine, with faults; docs/invariants.md explains them.

npm run simulate -- [--histories N] [--seed S]    run N histories (default 20000) of seed S (default 1)
npm run simulate -- --seed S --history I          print the trace of one history; --json prints everything in it
npm run simulate -- --mutants [--seed S]          run wrong machines, to prove that the checks find them
npm run simulate -- --mutants --write             the same; keep where each was seen first, where the tests begin
npm run simulate -- --seed S --history I --mutant "NAME"    print the trace of a wrong machine

${LEGEND}`;

const printReplay = async (id: HistoryId, json: boolean): Promise<boolean> => {
  const mutant = MUTANTS.findIndex(({ name }) => name === id.mutant);
  const simulation = await ofMutant({ replay }, "./replay.ts", mutant);
  if (!json) console.log(`${LEGEND}\n`);
  const failure = simulation.replay(id, console.log, { json });
  if (json) return !failure;
  console.log(failure ? `\nViolation of ${failure.message}\nReplay: ${replayCommand(id)}` : "\nNo violation.");
  return !failure;
};

const printSummary = (seed: number, { histories, commands, faults, failures }: Summary, seconds: number): void => {
  console.log(`${histories} histories of seed ${seed}, ${commands} commands, ${seconds.toFixed(1)} s`);
  const sorted = Object.entries(faults).sort(([, left], [, right]) => right - left);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  console.log(`${total} faults: ${sorted.map(([fault, count]) => `${fault} ${count}`).join(", ")}`);
  for (const { history, message } of failures.slice(1, MAX_PRINTED_FAILURES)) {
    console.log(`  ${message}\n    ${replayCommand({ seed, index: history })}`);
  }
  const [first] = failures;
  if (first) console.log(`\n${failureReport({ seed, index: first.history }).join("\n")}\n`);
  console.log(`${failures.length} violations`);
};

/** Stores the first history that reveals each mutant, so that the tests need not search for it. */
const writeFirstSeen = (seed: number, results: readonly MutantResult[]): void => {
  const seen = results.flatMap(({ mutant, killedBy }) => (killedBy ? [[mutant.name, killedBy.history]] : []));
  writeFileSync(FIRST_SEEN, `${JSON.stringify({ seed, histories: Object.fromEntries(seen) }, null, 2)}\n`);
};

const printMutants = async (seed: number, mustWrite: boolean): Promise<boolean> => {
  const results = await testMutants(seed, MAX_MUTANT_HISTORIES);
  if (mustWrite) writeFirstSeen(seed, results);
  for (const { mutant, histories, killedBy } of results) {
    const { name, breaks } = mutant;
    const result = killedBy ? `found after ${histories}` : "NOT FOUND";
    console.log(`${result} - ${name}: ${killedBy?.message ?? `must break ${breaks} (${INVARIANTS[breaks]})`}`);
  }
  const seen = results.filter(({ killedBy }) => killedBy !== null).length;
  console.log(`${seen} of ${results.length} mutants were found within ${MAX_MUTANT_HISTORIES} histories`);
  return seen === results.length;
};

const { values } = parseArgs({
  options: {
    histories: { type: "string", default: "20000" },
    seed: { type: "string", default: "1" },
    history: { type: "string" },
    mutants: { type: "boolean", default: false },
    mutant: { type: "string" },
    write: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed);
const mutant = MUTANTS.find(({ name }) => name === values.mutant);
const started = performance.now();
let isGood = true;
if (values.help) console.log(USAGE);
else if (values.mutant !== undefined && (!mutant || values.history === undefined)) {
  console.error(
    `--mutant needs --history and one of these names:\n${MUTANTS.map(({ name }) => `  ${name}`).join("\n")}`,
  );
  isGood = false;
} else if (values.history !== undefined) {
  isGood = await printReplay({ seed, index: Number(values.history), mutant: values.mutant }, values.json);
} else if (values.mutants) isGood = await printMutants(seed, values.write);
else {
  const summary = await simulate(seed, Number(values.histories), ({ histories }) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${histories}`);
  });
  printSummary(seed, summary, (performance.now() - started) / 1000);
  isGood = summary.failures.length === 0;
}
process.exitCode = isGood ? 0 : 1;
