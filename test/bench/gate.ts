import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { VERSION } from "../../src/protocol/version.ts";
import { printBuildbot } from "./gate/buildbot.ts";
import { type Figure, judge, type Row, type RowGroup, scoreOf, sorted } from "./gate/figure.ts";
import { openFirstLine } from "./gate/first-line.ts";
import { openRows } from "./gate/rows.ts";
import { openServed } from "./gate/served.ts";
import { openStart } from "./gate/start.ts";

const KEPT_FILE = join(import.meta.dirname, "gate.json");
const GROUPS: (() => Promise<RowGroup>)[] = [openFirstLine, openServed, openRows, openStart];

const USAGE = `npm run bench -- gate [--keep]

Measures each row beside its floor in the same run and compares it with test/bench/gate.json. A row that is worse is
measured again; if it is worse again, the gate exits with 1. --keep writes the measured values into the file instead:
for a release, in a commit of its own that says why.`;

/** A release's figures, by row. */
interface Kept {
  release: string;
  rows: Record<string, Figure>;
}

const args = process.argv.slice(2);
const keeps = args.includes("--keep");
if (args.some((arg) => arg !== "--keep")) {
  console.log(USAGE);
  process.exit(args.includes("--help") ? 0 : 2);
}

const kept: Kept = JSON.parse(readFileSync(KEPT_FILE, "utf8"));
const measured: Record<string, Figure> = {};
const worse: string[] = [];

const digits = (value: number): string => value.toFixed(value < 10 ? 2 : 1);

const show = ({ name, unit }: Row, figure: Figure, verdict: string): void => {
  const floor = figure.floor === null ? "" : `floor ${digits(figure.floor)} ${unit}, ratio ${digits(scoreOf(figure))}`;
  const before = kept.rows[name] ? digits(scoreOf(kept.rows[name])) : "-";
  const cells = [name.padEnd(50), `${digits(figure.own)} ${unit}`.padStart(11), floor.padStart(30)];
  console.log(`  ${cells.join("  ")}  kept ${before.padStart(6)}  ${verdict}`);
};

/** --keep stores the median of so many measurements. */
const KEPT_OF = 3;

/** Returns the figure to keep or to judge. If a row got worse, measures twice and returns the better figure. */
const measure = async (row: Row): Promise<Figure> => {
  const before = kept.rows[row.name];
  const figures = [await row.measure()];
  if (keeps) while (figures.length < KEPT_OF) figures.push(await row.measure());
  else if (before && judge(figures[0]!, scoreOf(before)) === "worse") figures.push(await row.measure());
  return sorted(figures)[keeps ? 1 : 0]!;
};

const gate = async (row: Row): Promise<void> => {
  const before = kept.rows[row.name];
  const figure = await measure(row);
  measured[row.name] = figure;
  const verdict = before === undefined ? "new" : judge(figure, scoreOf(before));
  if (verdict === "worse") worse.push(row.name);
  show(row, figure, verdict === "worse" ? "worse, twice" : verdict);
};

console.log(`Beside release ${kept.release} (load before: ${loadavg()[0]?.toFixed(1)}):`);
for (const open of GROUPS) {
  const group = await open();
  for (const row of group.rows) await gate(row);
  await group.close();
}
printBuildbot();
const missing = Object.keys(kept.rows).filter((name) => !(name in measured));

if (keeps) {
  const figures: Kept = { release: VERSION, rows: measured };
  writeFileSync(KEPT_FILE, `${JSON.stringify(figures, null, 2)}\n`);
  console.log(`Kept for release ${VERSION}.`);
  process.exit(0);
}
if (worse.length > 0) console.error(`Worse than release ${kept.release}, twice in a row: ${worse.join("; ")}.`);
if (missing.length > 0) console.error(`Kept for release ${kept.release}, but not measured: ${missing.join("; ")}.`);
process.exit(worse.length + missing.length > 0 ? 1 : 0);
