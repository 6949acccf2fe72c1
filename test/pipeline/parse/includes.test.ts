import { describe, expect, it } from "vitest";
import { FILE_LIMITS } from "../../../src/pipeline/fields/limits.ts";
import { formatMistake } from "../../../src/pipeline/mistake.ts";
import { hashedText, KnownFiles } from "../../../src/pipeline/parse/included-files.ts";
import { unknownVariables } from "../../../src/pipeline/parse/known-variables.ts";
import { parseFile, parsePlan } from "../../../src/pipeline/parse/parse.ts";
import { filesOf, planWith, toldWith } from "../support/included.ts";

const RUN = "steps: [{ run: x }]";
const including = (...paths: string[]): string => `steps:\n${paths.map((path) => `  - include: ${path}\n`).join("")}`;
const chain = (length: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length }, (_, index) => [`${index}`, index + 1 < length ? including(`./${index + 1}`) : RUN]),
  );

describe("an included file", () => {
  it("adds its steps to the list, between those around it, in a file of steps and in jobs", () => {
    const files = { "ci/a.yml": "steps: [{ run: a1 }, { include: ./b.yml }]", "b.yml": "steps: [{ run: b1 }]" };
    const list = "[{ run: one }, { include: ./ci/a.yml }, { run: two }, { include: ./b.yml }]";
    const scripts = ["one", "a1", "b1", "two", "b1"];
    expect(planWith(`steps: ${list}`, files).job.steps.map(({ run }) => run.text)).toEqual(scripts);
    const { jobs } = planWith(`jobs: { x: { steps: ${list} }, y: { steps: [{ include: ./b.yml }] } }`, files);
    expect(jobs?.map(({ job }) => job.steps.map(({ run }) => run.text))).toEqual([scripts, ["b1"]]);
    expect(planWith(`steps: ${list}`, files).job.steps[1]?.position).toMatchObject({ file: "ci/a.yml", line: 1 });
  });

  it("has the defaults and variables of the place of its include", () => {
    const file = `env: { WORD: x }\ndefaults: { run: { shell: sh, working-directory: sub } }\n${including("./a")}`;
    const [step] = planWith(file, { a: "steps:\n  - run: echo ${{ WORD }}\n" }).job.steps;
    expect(step).toMatchObject({ shell: "sh", workingDirectory: ["sub"] });
  });

  it("has its mistakes reported at its own path and line, after those of the file", () => {
    const files = {
      a: "steps:\n  - rum: x\n",
      b: 'steps:\n  - run: x\n    name: "${{ build.brnch }}"\n',
      c: "steps: [",
    };
    expect(toldWith(`${including("./a", "./b", "./c", "./d")}  - run: y\n    shell: fish\n`, files)).toEqual(
      [
        "p:5:14: no file d",
        "p:7:12: This must be one of: bash, sh, pwsh, python, node",
        "a:2:5: `rum` is not a key of a step. Did you mean `run`?",
        "b:3:22: This context has no such property. Did you mean `branch`?",
        "c:1:9: A [ or { before this is never closed, or its content is not indented",
      ].slice(0),
    );
  });

  it("shares the ids of its steps with the job", () => {
    const a = "steps: [{ id: one, run: x }, { if: steps.one.exitCode == 0, run: y }]";
    expect(toldWith(including("./a", "./a"), { a })).toEqual(["a:1:15: Another step already has this id"]);
    expect(toldWith(`${including("./a")}  - { id: one, run: z }\n`, { a })).toEqual([
      "p:3:11: Another step already has this id",
    ]);
    const after = `${including("./a")}  - run: echo \${{ steps.one.outputs.x }} \${{ steps.two.outputs.x }}\n`;
    expect(toldWith(after, { a })).toEqual(["p:3:52: There is no earlier step with this id"]);
    expect(toldWith(`jobs:\n  x: { steps: [{ include: ./a }] }\n  y: { steps: [{ include: ./a }] }\n`, { a })).toEqual(
      [],
    );
  });

  it("has only inputs and steps", () => {
    const told = (text: string) => toldWith(including("./a"), { a: text });
    expect(told(`on: { push: true }\n${RUN}`)).toEqual([
      "a:1:1: `on` is not a key of an included file. Only the pipeline file says when it is built",
    ]);
    expect(told("jobs: { x: { steps: [{ run: x }] } }")[0]).toContain("`jobs` is not a key of an included file");
    expect(told("inputs: {}")).toEqual(["a:1:1: The key `steps` is missing here"]);
    expect(told("steps: []")).toEqual(["a:1:8: This must not be empty"]);
    expect(told("")).toEqual(["a:1:1: The file is empty: it needs `steps`"]);
    expect(told("[x]")).toEqual(["a:1:1: This must be a mapping, with `key: value` on each line"]);
    expect(told("steps: [{ run: *none }]")).toEqual(["a:1:16: This alias has no anchor before it"]);
    expect(told("a: 1\n---\nb: 2")[0]).toContain("a:2:1: A pipeline file is one document");
    expect(toldWith("steps: [{ include: ./a, if: x, run: y }]", { a: RUN })).toEqual([
      "p:1:25: `if` is not a key of an include. Write `if` in the steps of the included file: it can read `inputs`",
      "p:1:32: `run` is not a key of an include. Write it in a separate step",
    ]);
    expect(toldWith("steps: [{ include: }]")).toEqual(["p:1:11: This key has no value"]);
    expect(toldWith("steps: [{ include: [./a] }]")).toEqual(["p:1:20: This must be text"]);
  });
});

describe("the path of an included file", () => {
  const REFUSED = "This must be the path of a file in the repository, without `..`, such as `./ci/setup.yml`";
  const LATER =
    "Templates from other repositories are not supported yet: write a path in this one, such as `./ci/setup.yml`";
  it.each([
    ...["../a", "./../a", "./a/../../b", "./a/..", "/etc/passwd", ".//a", "./a//b", "./a/", "./", "./.", "./a/./b"],
    ...["./a\\b", "..\\a", "./.git/config", "./.GIT/config", "./x/.git/config", "./git~1/config", "./.git /config"],
    ...["./.git::$INDEX_ALLOCATION/config", "./-x", "./a\u202eb", `./${"a".repeat(401)}`, "./a\tb"],
  ])("%j is rejected without a lookup", (path) => {
    const asked: string[] = [];
    const { mistakes } = parsePlan(`steps: [{ include: ${JSON.stringify(path)} }]`, (wanted) => {
      asked.push(wanted);
      return { text: RUN };
    });
    expect(mistakes?.map(({ message }) => message)).toEqual([REFUSED]);
    expect(asked).toEqual([]);
  });

  it.each(["acme/app//ci/a.yml@v1", "acme/app@v1", "https://host/a.yml", "git@host:acme/app", "host:x", "//host/a"])(
    "%s, of another repository, is not supported yet",
    (path) => {
      expect(toldWith(`steps: [{ include: ${JSON.stringify(path)} }]`)).toEqual([`p:1:20: ${LATER}`]);
    },
  );

  it("begins with ./, and has no NUL and no expression", () => {
    expect(toldWith(including("ci/a.yml"))[0]).toContain("Write `./` before the path");
    expect(toldWith('steps: [{ include: "./a\\0" }]')).toEqual(["p:1:20: This must not have a NUL character"]);
    expect(toldWith("steps: [{ include: './${{ build.branch }}' }]")[0]).toContain("The path is plain text");
    const asked: string[] = [];
    const find = (path: string) => {
      asked.push(path);
      return { text: RUN };
    };
    expect(parsePlan(including("./ci/an ünusual name@1.yml", "./.github/x", "./.gitignore"), find).mistakes).toBe(
      undefined,
    );
    expect(asked).toEqual(["ci/an ünusual name@1.yml", ".github/x", ".gitignore"]);
  });
});

describe("files that include others", () => {
  it("are at most 3 deep, whichever way they are reached first", () => {
    expect(toldWith(including("./0"), chain(3))).toEqual([]);
    const deep = "Files are included at most 3 deep";
    expect(toldWith(including("./0"), chain(4))).toEqual([`2:2:14: ${deep}`]);
    expect(toldWith(including("./1", "./0"), chain(4))).toEqual([`0:2:14: ${deep}`]);
    expect(toldWith(including("./0"), chain(50))).toEqual([`2:2:14: ${deep}`]);
  });

  it("must not include each other", () => {
    expect(toldWith(including("./a"), { a: including("./a") })).toEqual([
      "a:2:14: These files include each other: a, a",
    ]);
    expect(toldWith(including("./a"), { a: including("./b"), b: including("./a") })).toEqual([
      "b:2:14: These files include each other: a, b, a",
    ]);
  });

  it("are at most 50 different ones, and a file includes at most that many", () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, RUN]));
    const all = (count: number) => including(...Object.keys(many(count)).map((path) => `./${path}`));
    const most = "A file includes at most 50 files, directly or indirectly";
    expect(toldWith(all(50), many(50))).toEqual([]);
    expect(toldWith(all(51), many(51))).toEqual([`p:52:14: ${most}`]);
    expect(toldWith(including("./a"), { ...many(50), a: all(50) })).toEqual([`a:51:14: ${most}`]);
    expect(toldWith(including(...Array.from({ length: 51 }, () => "./a")), { a: RUN })).toEqual([`p:52:14: ${most}`]);
  });

  it("have at most 262,144 characters together, each text counted once", () => {
    const padded = (characters: number) => `${RUN}\n#`.padEnd(characters, "x");
    const file = including("./a", "./b", "./a");
    const room = FILE_LIMITS.characters - file.length;
    expect(toldWith(file, { a: padded(room - 100), b: padded(100) })).toEqual([]);
    expect(toldWith(file, { a: padded(room - 100), b: padded(101) })).toEqual([
      "p:3:14: With this one, the file and its included files have more than 262,144 characters",
    ]);
    expect(toldWith(including("./a"), { a: padded(10_000_000) })[0]).toContain("p:2:14: With this one");
  });

  it("count as the steps and the size of one file, however often they are included", () => {
    const steps = (count: number) => `steps:\n${"  - run: x\n".repeat(count)}`;
    const over = "With the files included up to here, there are more than 500 steps";
    expect(planWith(including("./a", "./a"), { a: steps(250) }).job.steps).toHaveLength(500);
    expect(toldWith(including("./a", "./a", "./b"), { a: steps(250), b: RUN })).toEqual([
      "p:4:14: A file has at most 500 steps in all its jobs",
    ]);
    expect(toldWith(`${including("./a")}  - run: y\n`, { a: steps(500) })).toEqual([`p:3:5: ${over}`]);
    const doubling = { a: including(...Array(50).fill("./b")), b: including(...Array(50).fill("./c")), c: steps(50) };
    expect(toldWith(including(...Array(50).fill("./a")), doubling)).toEqual([`b:12:5: ${over}`]);
    const aliased = `jobs:\n  j: &j { steps: [{ include: ./a }] }\n${Array.from({ length: 99 }, (_, n) => `  j${n}: *j\n`).join("")}`;
    expect(toldWith(aliased, { a: steps(500) })).toEqual(["p:2:30: A file has at most 500 steps in all its jobs"]);
  });

  it("count towards the limits of expressions and YAML as one file", () => {
    const script = `steps:\n${`  - run: echo ${"${{ A }}".repeat(20)}\n`.repeat(40)}`;
    expect(toldWith(including(...Array(12).fill("./a")), { a: script })).toEqual([]);
    const long = `steps:\n${`  - run: echo ${"${{ A }}".repeat(100)}\n`.repeat(40)}`;
    expect(toldWith(including(...Array(12).fill("./a")), { a: long })[0]).toMatch(/^a:\d+:\d+: The file's expressions/);
    const lines = (count: number) => `${RUN}\n${"\n".repeat(count)}`;
    const both = { a: lines(35_000), b: lines(35_000) };
    expect(toldWith(including("./a"), both)).toEqual([]);
    expect(toldWith(including("./a", "./b"), both)[0]).toMatch(/^b:\d+:1: The file has more than 60,000 words/);
  });

  it("report at most 200 mistakes together", () => {
    const wrong = `steps:\n${"  - rum: x\n".repeat(150)}`;
    expect(toldWith(including("./a", "./b"), { a: wrong, b: wrong })).toHaveLength(FILE_LIMITS.mistakes);
  });
});

describe("without files to include", () => {
  it("an inline definition reports it", () => {
    expect(parsePlan(including("./a")).mistakes).toMatchObject([
      { line: 2, column: 14, message: expect.stringContaining("Only a file in the repository can include others") },
    ]);
  });

  it("a check of the file alone gives a hint, and accepts ids and variables that may come from included files", () => {
    const file = `${including("./a")}  - run: echo \${{ steps.one.outputs.x }} \${{ env.LATER }} \${{ vars.NONE }}\n`;
    const { value, hints, mistakes } = parseFile(file, () => ({ unread: "not read" }));
    expect(mistakes).toBe(undefined);
    expect(hints).toMatchObject([{ line: 2, column: 14, message: "not read" }]);
    expect(unknownVariables(value!.plan, { vars: [], secrets: [] })).toMatchObject([
      { line: 3, message: "There is no variable with this name" },
    ]);
    const read = planWith(file, { a: "steps: [{ id: one, run: x }]" });
    expect(unknownVariables(read, { vars: [], secrets: [] })).toHaveLength(2);
  });
});

describe("variables that a build lacks", () => {
  it("are reported once, in the file that names them", () => {
    const files = {
      a: "inputs: { x: {} }\nsteps:\n  - run: echo ${{ vars.NONE }} ${{ inputs.x }}\n  - run: echo ${{ inputs.x }}\n",
    };
    const entry = (value: string) => `  - include: ./a\n    with: { x: "\${{ ${value} }}" }\n`;
    const plan = planWith(`steps:\n${entry("vars.GONE")}${entry("vars.SOME")}`, files);
    const told = unknownVariables(plan, { vars: ["SOME"], secrets: [] }).map((one) => formatMistake("p", one));
    expect(told).toEqual([
      "p:3:26: There is no variable with this name",
      "a:3:24: There is no variable with this name",
    ]);
  });
});

describe("the text that is hashed for a plan", () => {
  it("is the file alone if it includes nothing, otherwise all files, in any order", () => {
    const [a, b] = [
      { path: "a", text: "1" },
      { path: "b", text: "2" },
    ];
    expect(hashedText(RUN, [])).toBe(RUN);
    expect(hashedText(RUN, [a, b])).toBe(hashedText(RUN, [b, a]));
    const others = [[a], [{ ...a, text: "2" }], [{ ...a, path: "c" }, b], [a, { ...b, text: "12" }]];
    expect(new Set([[a, b], ...others].map((files) => hashedText(RUN, files))).size).toBe(5);
    expect(toldWith(hashedText(RUN, [a]))).not.toEqual([]);
  });

  it("has only the files that the file includes", () => {
    const files = filesOf({ a: including("./b"), b: RUN, c: RUN });
    parsePlan(including("./a"), files.find);
    expect(files.used.map(({ path }) => path)).toEqual(["a", "b"]);
    const none = new KnownFiles(new Map(), () => ({ problem: "gone" }));
    parsePlan(including("./a"), none.find);
    expect(none.used).toEqual([]);
  });
});
