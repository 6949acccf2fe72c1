import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { basename, join } from "node:path";

/* `npm run bench [-- NAME...]`: every bench in this folder, each a program of its own, so that none warms another. */
const all = globSync(join(import.meta.dirname, "*.ts"))
  .filter((path) => basename(path) !== "main.ts")
  .map((path) => ({ name: basename(path, ".ts"), path }))
  .sort((a, b) => a.name.localeCompare(b.name));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !all.some((bench) => bench.name === name));

if (wanted.includes("--help") || unknown.length > 0) {
  const names = all.map(({ name }) => name).join(", ");
  console.log(`npm run bench [-- NAME...]   runs all benches, or those named: ${names}`);
  process.exit(wanted.includes("--help") ? 0 : 2);
}

const failed = all
  .filter(({ name }) => wanted.length === 0 || wanted.includes(name))
  .filter(({ name, path }) => {
    console.log(`\n== ${name}`);
    return spawnSync(process.execPath, [path], { stdio: "inherit" }).status !== 0;
  });
for (const { name } of failed) console.error(`The bench ${name} failed.`);
process.exit(failed.length > 0 ? 1 : 0);
