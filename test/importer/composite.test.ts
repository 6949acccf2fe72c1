import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { deliveredImporter, translate } from "./support/importer.ts";

/*
 * A composite action on GitHub: its steps run in order at the place of the call; `inputs` are texts with defaults;
 * `steps` are its own; `outputs` are the values that it names
 * (https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax). The test writes by hand the job
 * that GitHub would run. The translations of both must be the same.
 */

const importer = await deliveredImporter();

const job = (steps: string): string =>
  `on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    strategy: { matrix: { n: ['1', '2'] } }\n    steps:\n${steps.replace(/^/gm, "      ")}\n`;

const PATH = ".github/actions/x/action.yml";
const action = (steps: string, more = ""): Record<string, string> => ({
  [PATH]: `name: X\n${more}runs:\n  using: composite\n  steps:\n${steps.replace(/^/gm, "    ")}\n`,
});
const INPUTS =
  "inputs:\n  word: { required: true }\n  mode: { default: fast }\n  on: { default: true }\n  empty: {}\noutputs:\n  out: { value: '${{ steps.one.outputs.o }}' }\n";
const use = (inputs = "", more = ""): string =>
  `- uses: ./.github/actions/x\n  id: call\n${more}${inputs === "" ? "" : `  with: ${inputs}\n`}`;

const jobIn = (text: string) => {
  const { steps, ...rest } = parse(text).jobs.a;
  return { ...rest, steps };
};

/** On GitHub, ids are private to an action, so they have other names here. */
type Row = [what: string, call: string, files: Record<string, string>, same: string];

const SAME: Row[] = [
  [
    "steps",
    use("{ word: a }"),
    action("- run: make\n  shell: bash\n- run: ls\n  shell: bash", INPUTS),
    "- run: make\n  shell: bash\n- run: ls\n  shell: bash",
  ],
  [
    "inputs in a script",
    use("{ word: 'a b' }"),
    action('- run: echo ${{ inputs.word }} ${{ inputs.empty }}"${{ inputs.mode }}"\n  shell: bash', INPUTS),
    '- run: echo a b "fast"\n  shell: bash',
  ],
  [
    "an input that is an expression",
    use("{ word: 'v${{ matrix.n }}' }"),
    action('- run: echo "${{ inputs.word }}"\n  shell: bash\n  env: { W: "${{ inputs.word }}!" }', INPUTS),
    '- run: echo "v${{ matrix.n }}"\n  shell: bash\n  env: { W: "v${{ matrix.n }}!" }',
  ],
  [
    "conditions that are known",
    use("{ word: a, on: false }"),
    action(
      "- run: never\n  shell: bash\n  if: inputs.on == 'true'\n- run: always\n  shell: bash\n  if: ${{ inputs.mode == 'FAST' }}",
      INPUTS,
    ),
    "- run: always\n  shell: bash",
  ],
  [
    "conditions that are known in part",
    use("{ word: a, on: false }"),
    action(
      "- run: never\n  shell: bash\n  if: inputs.on == 'true' && matrix.n == '1'\n- run: one\n  shell: bash\n  if: ${{ inputs.on == 'false' && (matrix.n == '1' || matrix.n == '2') }}\n- run: always\n  shell: bash\n  if: inputs.on == 'false' || matrix.n == '1'",
      INPUTS,
    ),
    "- run: one\n  shell: bash\n  if: (matrix.n == '1' || matrix.n == '2')\n- run: always\n  shell: bash",
  ],
  [
    "conditions that are not",
    use("{ word: '${{ matrix.n }}' }"),
    action("- run: make\n  shell: bash\n  if: inputs.word == '1'", INPUTS),
    "- run: make\n  shell: bash\n  if: format('{0}', matrix.n) == '1'",
  ],
  [
    "a condition of the call",
    use("{ word: a }", "  if: github.ref_name == 'a'\n"),
    action("- run: one\n  shell: bash\n- run: two\n  shell: bash\n  if: matrix.n == '2'", INPUTS),
    "- run: one\n  shell: bash\n  if: github.ref_name == 'a'\n- run: two\n  shell: bash\n  if: (github.ref_name == 'a') && (matrix.n == '2')",
  ],
  [
    "outputs and ids",
    `${use("{ word: a }")}- run: echo "\${{ steps.call.outputs.out }}" "\${{ steps.CALL.outputs.OUT == 'a' }}"`,
    action(
      '- id: one\n  run: echo "o=1" >> $GITHUB_OUTPUT\n  shell: bash\n- run: echo "${{ steps.one.outputs.o }}"\n  shell: bash',
      INPUTS,
    ),
    '- id: call-one\n  run: echo "o=1" >> $GITHUB_OUTPUT\n  shell: bash\n- run: echo "${{ steps.call-one.outputs.o }}"\n  shell: bash\n- run: echo "${{ format(\'{0}\', steps.call-one.outputs.o) }}" "${{ format(\'{0}\', steps.call-one.outputs.o) == \'a\' }}"',
  ],
  [
    "what it sets up",
    use("{ word: '24' }"),
    action("- uses: actions/setup-node@v4\n  with: { node-version: '${{ inputs.word }}', cache: npm }", INPUTS),
    "- uses: actions/setup-node@v4\n  with: { node-version: '24', cache: npm }",
  ],
  [
    "its own folder",
    use("{ word: a }"),
    action('- run: bash "${{ github.action_path }}/x.sh"\n  shell: bash', INPUTS),
    '- run: bash ".github/actions/x/x.sh"\n  shell: bash',
  ],
  [
    "an action in an action",
    use("{ word: a }"),
    {
      ...action("- uses: ./.github/actions/y\n  with: { w: '${{ inputs.word }}${{ inputs.mode }}' }", INPUTS),
      ".github/actions/y/action.yaml":
        "inputs: { w: {} }\nruns:\n  using: composite\n  steps:\n    - run: echo ${{ inputs.w }}\n      shell: bash\n",
    },
    "- run: echo afast\n  shell: bash",
  ],
  [
    "outputs of an action in an action",
    `${use()}- run: echo "\${{ steps.call.outputs.o }}"`,
    {
      ...action("- uses: ./.github/actions/y\n  id: y", "outputs: { o: { value: '${{ steps.y.outputs.p }}' } }\n"),
      ".github/actions/y/action.yml":
        "outputs: { p: { value: '${{ steps.z.outputs.q }}' } }\nruns:\n  using: composite\n  steps:\n    - run: ls\n      id: z\n      shell: bash\n",
    },
    "- run: ls\n  id: call-y-z\n  shell: bash\n- run: echo \"${{ format('{0}', format('{0}', steps.call-y-z.outputs.q)) }}\"",
  ],
];

describe("an action of the repository", () => {
  it.each(SAME)("becomes its steps: %s", async (_, call, files, same) => {
    const made = await translate(importer, job(call), files);
    const expected = await translate(importer, job(same));
    expect(made.kinds).toEqual([]);
    expect(jobIn(made.text)).toEqual(jobIn(expected.text));
  });

  it("runs in the checkout, even in a job with another folder", async () => {
    const text = `defaults: { run: { working-directory: app } }\n${job(`${use()}- run: make`)}`;
    const made = await translate(importer, text, action("- run: ls\n  shell: bash"));
    expect(jobIn(made.text).steps).toEqual([{ run: "ls", "working-directory": "." }, { run: "make" }]);
  });

  it("becomes separate steps for each use", async () => {
    const twice = job("- uses: ./.github/actions/x\n- uses: ./.github/actions/x");
    const made = await translate(importer, twice, action("- id: one\n  run: ls\n  shell: bash"));
    const ids = jobIn(made.text).steps.map((step: { id: string }) => step.id);
    expect(new Set(ids).size).toBe(2);
    expect(made.kinds).toEqual([]);
  });

  const STEP = "- run: make\n  shell: bash";
  const REFUSED: [string, string, Record<string, string>][] = [
    ["that is not there", use(), {}],
    ["that is a program", use(), { [PATH]: "runs: { using: node24, main: x.js }\n" }],
    ["that is no YAML", use(), { [PATH]: "runs: [\n" }],
    ["without anything", use(), { [PATH]: "" }],
    ["around which variables are set", use("", "  env: { A: b }\n"), action(STEP)],
    ["with a time limit", use("", "  timeout-minutes: 5\n"), action(STEP)],
    ["after a failure", use("", "  if: always()\n"), action(STEP)],
    ["with a step after a failure", use(), action("- run: make\n  shell: bash\n  if: failure()")],
    [
      "that reads a variable which it changes",
      use("{ word: '${{ env.A }}' }"),
      action("- run: echo A=b >> $GITHUB_ENV\n  shell: bash", INPUTS),
    ],
    [
      "that names a step around it",
      `- id: out\n  run: ls\n${use()}`,
      action("- run: echo ${{ steps.out.outputs.a }}\n  shell: bash"),
    ],
    ["that names all of its inputs", use(), action("- run: echo '${{ toJSON(inputs) }}'\n  shell: bash")],
    [
      "that goes elsewhere and names its folder",
      use(),
      action("- run: cd a && ${{ github.action_path }}/x.sh\n  shell: bash"),
    ],
    ["with a step that GitHub would refuse", use(), action("- run: make\n  shel: bash")],
  ];

  it.each(REFUSED)("gets a mark and a failing step: one %s", async (_, call, files) => {
    const made = await translate(importer, job(`${call}\n- run: deploy`), files);
    expect(made.kinds).toEqual(["template"]);
    const steps: { run: string }[] = jobIn(made.text).steps;
    expect(steps.at(-1)?.run).toBe("deploy");
    expect(steps.at(-2)?.run).toContain("exit 1");
  });
});

describe("an attack by an action", () => {
  /** Returns the paths that the importer requests. */
  const asked = async (uses: string, files: Record<string, string> = {}): Promise<string[]> => {
    const paths: string[] = [];
    await importer.importWorkflow(job(`- uses: ${uses}\n- run: make`), "ci.yml", (path) => {
      paths.push(path);
      return files[path];
    });
    return paths;
  };

  it("reads no path out of the repository", async () => {
    expect(await asked("./a/b")).toEqual(["a/b/action.yml", "a/b/action.yaml"]);
    for (const uses of ["./../../etc", "./a/../../b", "./", "./.."]) expect(await asked(uses)).toEqual([]);
  });

  it("uses itself for ever: the steps end", async () => {
    const files = { "x/action.yml": "runs: { using: composite, steps: [{ uses: ./x }, { uses: ./x }] }\n" };
    const made = await translate(importer, job("- uses: ./x"), files);
    expect(made.kinds.length).toBeLessThan(1000);
    expect(new Set(made.kinds)).toEqual(new Set(["template"]));
  });

  it("has more steps than a job may have", async () => {
    const steps = Array.from({ length: 400 }, () => "- run: a\n  shell: bash").join("\n");
    expect((await translate(importer, job(use()), action(steps))).kinds).toContain("template");
  });

  it("has aliases of aliases", async () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let depth = 1; depth < 9; depth++)
      lines.push(`a${depth}: &a${depth} [${Array.from({ length: 10 }, () => `*a${depth - 1}`).join(", ")}]`);
    const text = `${lines.join("\n")}\nruns: { using: composite, steps: [{ run: a, shell: bash, env: *a8 }] }\n`;
    expect((await translate(importer, job(use()), { [PATH]: text })).kinds).toContain("template");
  });

  it("gives an input that would be code: it stays a value", async () => {
    const files = action('- run: echo "${{ inputs.word }}"\n  shell: bash', INPUTS);
    const made = await translate(importer, job(use("{ word: '${{ github.head_ref }}' }")), files);
    expect(jobIn(made.text).steps[0].run).toBe('echo "${{ build.pull.branch }}"');
  });
});
