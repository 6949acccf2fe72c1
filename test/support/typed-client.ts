import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Description } from "../../src/api/description/openapi.ts";
import { ROOT } from "../../src/local/service.ts";
import type { Exchange } from "../examples/replay.ts";

const CLIENT = join(ROOT, "client");
const FOLDER = join(ROOT, "dist/client");

interface Ended {
  code: number | null;
  printed: string;
}

const runNode = (args: string[], env: Record<string, string> = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const options = { cwd: FOLDER, env: { ...process.env, ...env } };
    const child = execFile(process.execPath, args, options, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, printed: stdout + stderr }),
    );
  });

const run = (bin: string, args: string[]): Promise<Ended> => runNode([join(CLIENT, "node_modules", bin), ...args]);

/** Writes the API's types, as anybody would make them of its description. */
const generateTypes = async (description: Description): Promise<void> => {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, "openapi.json"), JSON.stringify(description));
  const { code, printed } = await run("openapi-typescript/bin/cli.js", ["openapi.json", "--output", "api.d.ts"]);
  if (code !== 0) throw new Error(printed);
};

const STRICT = ["--noEmit", "--strict", "--skipLibCheck", "--target", "esnext", "--module", "nodenext"];

/** What the compiler says of a file in the folder of the generated types. */
const compile = async (file: string): Promise<string[]> => {
  const types = ["--allowImportingTsExtensions", "--typeRoots", join(ROOT, "node_modules/@types"), "--types", "node"];
  const { printed } = await run("typescript/bin/tsc", [...STRICT, ...types, file]);
  return printed.split("\n").filter((line) => line.includes("error"));
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
  return compile("answers.ts");
};

/** Compiles the example of a client's program beside the generated types, and runs it. */
export const runExample = async (
  description: Description,
  cloneUrl: string,
  env: Record<string, string>,
): Promise<Ended & { errors: string[] }> => {
  await generateTypes(description);
  copyFileSync(join(CLIENT, "example.ts"), join(FOLDER, "example.ts"));
  const errors = await compile("example.ts");
  return { ...(await runNode(["example.ts", cloneUrl], env)), errors };
};
