import type { Reporter, RunnerTestFile, TestModule } from "vitest/node";

/** Seconds of one file, or of all files of a project. They add up over workers that run at the same time. */
interface Row {
  name: string;
  files: number;
  /** Until the modules are found and turned into JavaScript. */
  transform: number;
  /** Until they are loaded, and the test environment stands. */
  setUp: number;
  tests: number;
  /** The part of `tests` in which no process of the tests computed. Unknown inside workerd. */
  waiting: number | null;
}

const FILES_SHOWN = 40;

const rowOf = (module: TestModule): Row => {
  const { setupFetchDuration = 0, collectFetchDuration = 0 } = (module as unknown as { task: RunnerTestFile }).task;
  const { environmentSetupDuration, prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic();
  const { processorMs } = module.meta();
  const transform = (setupFetchDuration + collectFetchDuration) / 1000;
  const loading = (environmentSetupDuration + prepareDuration + setupDuration + collectDuration) / 1000;
  return {
    ...{ name: module.relativeModuleId, files: 1, transform, setUp: loading - transform, tests: duration / 1000 },
    waiting: processorMs === undefined ? null : Math.max(0, duration - processorMs) / 1000,
  };
};

const secondsOf = ({ transform, setUp, tests }: Row): number => transform + setUp + tests;

const sumOf = (name: string, rows: Row[]): Row => {
  const sum = (of: (row: Row) => number) => rows.reduce((total, row) => total + of(row), 0);
  return {
    ...{ name, files: rows.length, transform: sum((row) => row.transform), setUp: sum((row) => row.setUp) },
    tests: sum((row) => row.tests),
    waiting: rows.some(({ waiting }) => waiting !== null) ? sum(({ waiting }) => waiting ?? 0) : null,
  };
};

const HEAD = ["", "files", "transform", "set-up", "tests", "waiting", "sum"];

const cellsOf = (row: Row): string[] => [
  row.name,
  String(row.files),
  ...[row.transform, row.setUp, row.tests, row.waiting, secondsOf(row)].map((seconds) => seconds?.toFixed(1) ?? "-"),
];

const print = (title: string, rows: Row[]): void => {
  const lines = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...lines.map((cells) => cells[column]!.length)));
  const text = lines.map(([name = "", ...cells]) =>
    [name.padEnd(widths[0]!), ...cells.map((cell, at) => cell.padStart(widths[at + 1]!))].join("  "),
  );
  console.log(`\n${title}\n${text.join("\n")}`);
};

/** Prints where the time of a run goes: for each project, and for the files that take longest. */
export default class ProfileReporter implements Reporter {
  readonly #rows = new Map<string, Row[]>();

  onTestModuleEnd(module: TestModule): void {
    const { name } = module.project;
    this.#rows.set(name, [...(this.#rows.get(name) ?? []), rowOf(module)]);
  }

  onTestRunEnd(): void {
    const projects = [...this.#rows];
    const longest = projects.flatMap(([project, rows]) =>
      rows.map((row) => ({ ...row, name: `${project} ${row.name}` })),
    );
    longest.sort((one, other) => secondsOf(other) - secondsOf(one));
    print(
      "Seconds by project (all workers together):",
      projects.map(([project, rows]) => sumOf(project, rows)),
    );
    print("The longest files:", longest.slice(0, FILES_SHOWN));
  }
}
