import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Description } from "../../src/api/description/openapi.ts";
import { ROOT } from "../../src/local/service.ts";
import type { Exchange } from "../examples/replay.ts";

const CLIENT = join(ROOT, "client");
const FOLDER = join(ROOT, "dist/client");

const run = (bin: string, args: string[]): Promise<string> =>
  new Promise((resolve) => {
    const script = join(CLIENT, "node_modules", bin);
    execFile(process.execPath, [script, ...args], { cwd: FOLDER }, (_, stdout, stderr) => resolve(stdout + stderr));
  });

/** Writes the API's types, as anybody would make them of its description. */
export const generateTypes = async (description: Description): Promise<void> => {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, "openapi.json"), JSON.stringify(description));
  await run("openapi-typescript/bin/cli.js", ["openapi.json", "--output", "api.d.ts"]);
};

/** What the compiler says when real answers, written out, are given the types of their operation and status. */
export const typeErrors = async (description: Description, exchanges: Exchange[]): Promise<string[]> => {
  await generateTypes(description);
  const lines = exchanges.map(({ operation, status, answer, responseHeaders }, index) => {
    const type = responseHeaders.get("Content-Type")?.split(";")[0] ?? "";
    const content = answer === undefined ? "" : `["${type}"]`;
    const wanted = `operations["${operation}"]["responses"][${status}]["content"]${content}`;
    return `export const answer${index}: ${wanted} = ${answer === undefined ? "undefined as never" : JSON.stringify(answer)};`;
  });
  writeFileSync(join(FOLDER, "answers.ts"), `import type { operations } from "./api.d.ts";\n${lines.join("\n")}\n`);
  const args = ["--noEmit", "--strict", "--skipLibCheck", "--target", "esnext", "--module", "nodenext", "answers.ts"];
  const printed = await run("typescript/bin/tsc", [...args, "--allowImportingTsExtensions"]);
  return printed.split("\n").filter((line) => line.includes("error"));
};
