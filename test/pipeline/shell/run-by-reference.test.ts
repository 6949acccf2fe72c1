import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parsePlan } from "../../../src/pipeline/parse/parse.ts";
import { INITIAL_JOB_STATE, type JobContext } from "../../../src/pipeline/prepare/job-context.ts";
import { prepareStep } from "../../../src/pipeline/prepare/prepare-step.ts";
import { BY_REQUEST } from "../../support/build-facts.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "by-reference-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const factsWith = (env: Record<string, string>, more: Partial<JobContext["build"]> = {}): JobContext => ({
  ...{ env, secretKeys: [], runKeys: [] },
  build: { id: "b", number: 1, branch: "main", commit: null, message: null, attempt: 1, ...BY_REQUEST, ...more },
  repository: { id: "r", fullName: "acme/app", cloneUrl: "https://host/app.git" },
  agent: { id: "a", name: "agent", platform: "linux" },
});

/** Texts built to break out of any context. Every one that escapes creates a file. */
const PIECES = [
  ...["$(touch marker)", "`touch marker`", "; touch marker;", "&& touch marker", "| touch marker", "\ntouch marker\n"],
  ...[
    "'",
    '"',
    "\\",
    "$",
    "`",
    "${",
    "}",
    "$((",
    "))",
    "(",
    ")",
    "a[$(touch marker)]",
    "=",
    "*",
    "?",
    "[",
    "]",
    "~",
    "!",
  ],
  ...[
    "#",
    " ",
    "  ",
    "\t",
    "\n",
    "\r",
    "\x01",
    "\x7f",
    "EOF",
    "\nEOF\n",
    "{a,b}",
    "<(touch marker)",
    "> marker",
    "é",
    "🎉",
  ],
  ...["-n", "-e", "%s", "${{ x }}", "}}", "$IFS", "x$(touch${IFS}marker)", "--", "\u2028", "${MILLRACE_EXPR_1}"],
];
const hostile = fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: "binary" })), { maxLength: 6 });
const text = hostile.map((parts) => parts.join("").replaceAll("\0", "").toWellFormed());

/** Ways to print the value of an expression, each with the expected output. */
const PLACES: [write: (e: string) => string, printed: (value: string) => string][] = [
  [(e) => `printf '%s\\0' ${e}`, (value) => value],
  [(e) => `printf '%s\\0' "${e}"`, (value) => value],
  [(e) => `printf '%s\\0' "a'${e}'b"`, (value) => `a'${value}'b`],
  [(e) => `printf '%s\\0' 'q'a${e}b`, (value) => `qa${value}b`],
  [(e) => `X=${e}; printf '%s\\0' "$X"`, (value) => value],
  [(e) => `printf '%s\\0' "$(printf '%s.' ${e})"`, (value) => `${value}.`],
  [(e) => `printf '%s\\0' $(printf x)"$(printf '%s.' "${e}")"`, (value) => `x${value}.`],
  [(e) => `printf '%s\\0' "\${UNSET:-${e}}"`, (value) => value],
  [(e) => `printf '%s\\0' \${UNSET:-${e}}`, (value) => value],
  [(e) => `IFS= read -rd '' X <<END || printf '%s\\0' "$X"\n${e}\nEND`, (value) => `${value}\n`],
  [(e) => `IFS= read -rd '' X <<-'A' <<B || printf '%s\\0' "$X"\n\tA\n"${e}"\nB`, (value) => `"${value}"\n`],
  [(e) => `IFS= read -rd '' X <<< ${e} || printf '%s\\0' "$X"`, (value) => `${value}\n`],
  [(e) => `A=(x ${e} y); printf '%s\\0' "\${A[1]}"`, (value) => value],
  [(e) => `f() { local v=${e}; printf '%s\\0' "$v"; }; f`, (value) => value],
  [(e) => `case ${e} in *) printf '%s\\0' ${e};; esac`, (value) => value],
  [(e) => `for i in ${e}; do printf '%s\\0' "$i"; done`, (value) => value],
  [(e) => `if [[ ${e} == "${e}" ]]; then printf 'same\\0'; fi # '${e}`, () => "same"],
  [(e) => `bash -c 'printf "%s\\0" "$1"' _ ${e}`, (value) => value],
];

const script = (values: string[]): string =>
  values.map((_, index) => PLACES[index % PLACES.length]![0](`\${{ V${index} }}`)).join("\n");

const bash = (text: string, env: Record<string, string>) =>
  spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", text], {
    cwd: folder,
    env: { PATH: process.env.PATH, LC_ALL: "C.UTF-8", ...env },
    maxBuffer: 1 << 26,
  });

/** Plans, evaluates and runs one step that prints every value in one of the places. */
const printed = (values: string[]): string => {
  const run = script(values).replaceAll(/^/gm, "      ");
  const { plan, mistakes } = parsePlan(`steps:\n  - run: |\n${run}\n`);
  if (!plan) throw new Error(JSON.stringify(mistakes));
  const env = Object.fromEntries(values.map((value, index) => [`V${index}`, value]));
  const step = prepareStep(plan, 0, factsWith(env), INITIAL_JOB_STATE);
  if (step.kind !== "run") throw new Error(JSON.stringify(step));
  const { status, stdout, stderr } = bash(step.script, step.env);
  return status === 0 ? stdout.toString() : `${status}: ${stderr}`;
};

describe("2,000 hostile texts in a script", () => {
  it("run nothing and arrive byte for byte", () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 200, maxLength: 200 }), (values) => {
        const expected = values.map((value, index) => PLACES[index % PLACES.length]![1](value));
        expect(printed(values).split("\0").slice(0, -1)).toEqual(expected);
        expect(readdirSync(folder)).toEqual([]);
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });

  it("fail the test if they are pasted into the script", () => {
    const values = fc.sample(text, 54);
    for (const [index, value] of values.entries()) {
      bash(PLACES[index % PLACES.length]![0]("@").replaceAll("@", value), {});
    }
    expect(readdirSync(folder)).toContain("marker");
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
  });
});

describe("hostile branches and messages", () => {
  const FILE = `
env:
  FROM_FILE: "\${{ build.branch }}"
steps:
  - env: { FROM_STEP: "<\${{ build.message }}>" }
    name: Build \${{ build.branch }}
    run: |
      printf '%s\\0' \${{ build.branch }} "\${{ build.message }}" "$FROM_FILE" "$FROM_STEP"
`;
  it("are texts on every path into a script", () => {
    const { plan } = parsePlan(FILE);
    fc.assert(
      fc.property(text, text, (branch, message) => {
        const step = prepareStep(plan!, 0, factsWith({}, { branch, message }), INITIAL_JOB_STATE);
        if (step.kind !== "run") throw new Error(step.kind);
        const { stdout } = bash(step.script, step.env);
        expect(stdout.toString()).toBe(`${branch}\0${message}\0${branch}\0<${message}>\0`);
        expect(readdirSync(folder)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});
