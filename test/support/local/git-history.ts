import { execFileSync } from "node:child_process";

/** Adds commits to the main branch. Each changes the counter in a.txt and one of `files` other files. */
export const addHistory = (folder: string, commits: number, files = 0): void => {
  const stream = [];
  const put = (path: string, text: string): string => `M 100644 inline ${path}\ndata ${text.length}\n${text}\n`;
  for (let n = 1; n <= commits; n++) {
    const date = 1_700_000_000 + n * 3600;
    stream.push(`commit refs/heads/main\ncommitter T <t@t.invalid> ${date} +0000\ndata 6\nchange\n`);
    if (n === 1) stream.push("from refs/heads/main^0\n");
    stream.push(put("a.txt", String(n)));
    if (n === 1) for (let file = 0; file < files; file++) stream.push(put(`src/${file}.txt`, textOf(file, 0)));
    if (files > 0) stream.push(put(`src/${n % files}.txt`, textOf(n % files, n)));
  }
  execFileSync("git", ["fast-import", "--quiet"], { cwd: folder, input: stream.join("") });
  execFileSync("git", ["reset", "--quiet", "--hard"], { cwd: folder });
};

/** Returns a few kilobytes that compress like source code. */
const textOf = (file: number, version: number): string =>
  Array.from({ length: 200 }, (_, line) => {
    const changed = line === version % 200 ? ` at ${version}` : "";
    return `line ${line} of ${file} is ${((line + 1) * (file + 7) * 2_654_435_761) % 4_294_967_296}${changed}`;
  }).join("\n");
