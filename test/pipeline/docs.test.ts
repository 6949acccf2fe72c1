import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { CONTEXT_NAMES, CONTEXT_PROPERTIES, FUNCTION_NAMES } from "../../src/pipeline/expression/names.ts";
import { parseFile, parsePlan } from "../../src/pipeline/parse/parse.ts";
import { INCLUDE_SCHEMA, PIPELINE_SCHEMA } from "../../src/pipeline/parse/pipeline-file.ts";
import { SHELLS } from "../../src/pipeline/parse/plan.ts";

const read = (file: string): string => readFileSync(file, "utf8");
const page = read("docs/pipelines.md");

/** Returns the YAML blocks of a page, by the line at which they begin. */
const examples = (file: string): [string, string][] =>
  [...read(file).matchAll(/^```yaml\n(.*?)^```/gms)].map((match) => [
    `${file}:${read(file).slice(0, match.index).split("\n").length}`,
    match[1] ?? "",
  ]);

type Schema = {
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  additionalProperties?: Schema | boolean;
};
const keysOf = ({ properties = {}, items, anyOf = [], additionalProperties }: Schema): string[] => [
  ...Object.entries(properties).flatMap(([key, schema]) => [key, ...keysOf(schema)]),
  ...(items ? keysOf(items) : []),
  ...anyOf.flatMap(keysOf),
  ...(typeof additionalProperties === "object" ? keysOf(additionalProperties) : []),
];

describe("the page about pipeline files", () => {
  const editor = z.fromJSONSchema(PIPELINE_SCHEMA as Parameters<typeof z.fromJSONSchema>[0]);
  const all = [...examples("docs/pipelines.md"), ...examples("README.md")];

  it("has examples", () => expect(all.length).toBeGreaterThanOrEqual(7));

  const included = /^```yml\n(.*?)^```/ms.exec(page)?.[1] ?? "";
  const find = (path: string) => (path === "ci/setup.yml" ? { text: included } : { problem: "gone" });

  it.each(all)("has a valid example at %s, also for an editor", (_, file) => {
    expect(parseFile(file, find).mistakes).toBeUndefined();
    expect(editor.safeParse(parse(file)).success).toBe(true);
  });

  it("has a file that an example includes, also for an editor", () => {
    expect(all.filter(([, file]) => parseFile(file).mistakes)).toHaveLength(1);
    const schema = z.fromJSONSchema(INCLUDE_SCHEMA as Parameters<typeof z.fromJSONSchema>[0]);
    expect(schema.safeParse(parse(included)).success).toBe(true);
    expect(schema.safeParse(parse(`${included}jobs: {}\n`)).success).toBe(false);
  });

  it("names every key, context, property, function and shell", () => {
    const names = [
      ...keysOf(PIPELINE_SCHEMA as Schema),
      ...keysOf(INCLUDE_SCHEMA as Schema),
      "inputs",
      ...CONTEXT_NAMES,
      ...Object.values(CONTEXT_PROPERTIES).flat(),
      ...FUNCTION_NAMES,
      ...SHELLS,
    ];
    const code = [...page.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]).join("\n");
    const isNamed = (name: string) => new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(code);
    expect(names.filter((name) => !isNamed(name))).toEqual([]);
    expect(isNamed("runs-on-nothing")).toBe(false);
  });

  it.each([
    "echo '${{ build.branch }}'",
    "cat << 'END'\n${{ build.branch }}\nEND",
    "echo \\${{ build.branch }}",
    "echo `echo ${{ build.branch }}`",
    "echo $(( ${{ build.number }} + 1 ))",
    "[[ ${{ build.number }} -eq 1 ]]",
    'bash -c "echo ${{ build.branch }}"',
    "eval ${{ build.branch }}",
    'ssh host "echo ${{ build.branch }}"',
    "python3 << END\nprint('${{ build.branch }}')\nEND",
  ])("correctly says that this is rejected: %j", (run) => {
    expect(parsePlan(JSON.stringify({ steps: [{ run }] })).mistakes).toHaveLength(1);
  });
});
