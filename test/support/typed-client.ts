import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import type { ApiDescription } from "../../src/api/description/schemas.ts";
import { ROOT } from "../../src/local/service.ts";
import type { Exchange } from "../examples/replay.ts";

const TOOLS = join(ROOT, "test/clients/node_modules");
const FOLDER = join(ROOT, "dist/clients");

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

const generate = async (description: ApiDescription, tool: string, ...args: string[]): Promise<void> => {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, "openapi.json"), JSON.stringify(description));
  const { code, printed } = await runNode([join(TOOLS, tool), ...args]);
  if (code !== 0) throw new Error(printed);
};

const generateTypes = (description: ApiDescription): Promise<void> =>
  generate(description, "openapi-typescript/bin/cli.js", "openapi.json", "--output", "api.d.ts");

const generateFunctions = (description: ApiDescription): Promise<void> =>
  generate(description, "@hey-api/openapi-ts/bin/run.js", "--input", "openapi.json", "--output", "millrace");

const STRICT = [
  "--ignoreConfig",
  "--noEmit",
  "--strict",
  "--target",
  "esnext",
  "--module",
  "esnext",
  "--moduleResolution",
  "bundler",
];

/**
 * Returns the compiler's errors for a file in the folder of the generated code. The generators' own compiler takes five
 * times as long.
 */
const compile = async (file: string): Promise<string[]> => {
  const types = ["--allowImportingTsExtensions", "--typeRoots", join(ROOT, "node_modules/@types"), "--types", "node"];
  const { printed } = await runNode([join(ROOT, "node_modules/typescript/bin/tsc"), ...STRICT, ...types, file]);
  return printed.split("\n").filter((line) => line.includes("error"));
};

/** Returns the compiler's errors when real answers get the types generated for their operation and status. */
export const typeErrors = async (description: ApiDescription, exchanges: Exchange[]): Promise<string[]> => {
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

/** Returns the programs in docs/clients.md, in order. */
const documentedPrograms = (): string[] =>
  [...readFileSync(join(ROOT, "docs/clients.md"), "utf8").matchAll(/^```ts\n(.*?)^```/gms)].map(
    ([, text = ""]) => text,
  );

type Ran = Ended & { errors: string[] };

/** Generates types, then compiles the documented program that uses them, and runs it twice. */
export const runTwiceWithTypes = async (
  description: ApiDescription,
  args: string[],
  env: Record<string, string>,
): Promise<Ran[]> => {
  await generateTypes(description);
  writeFileSync(join(FOLDER, "release.ts"), documentedPrograms()[0] ?? "");
  const errors = await compile("release.ts");
  const run = async () => ({ ...(await runNode(["release.ts", ...args], env)), errors });
  return [await run(), await run()];
};

/** Generates a function for each operation, then compiles and bundles the documented program, and runs it in each. */
export const runWithFunctions = async (
  description: ApiDescription,
  environments: Record<string, string>[],
): Promise<Ran[]> => {
  await generateFunctions(description);
  writeFileSync(join(FOLDER, "builds.ts"), documentedPrograms()[1] ?? "");
  const errors = await compile("builds.ts");
  const entryPoints = [join(FOLDER, "builds.ts")];
  await build({ entryPoints, bundle: true, platform: "node", format: "esm", outfile: join(FOLDER, "builds.mjs") });
  return Promise.all(environments.map(async (env) => ({ ...(await runNode(["builds.mjs"], env)), errors })));
};
