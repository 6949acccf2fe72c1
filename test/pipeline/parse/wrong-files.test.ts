import { describe, expect, it } from "vitest";
import { parseFile } from "../../../src/pipeline/parse/parse.ts";

/** Pipeline files and their mistakes: line, column, message and, in brackets, the suggestion. */
const WRONG: [file: string, mistakes: string[]][] = [
  ["", ["1:1 The file is empty: it needs `steps`"]],
  ["# only a comment\n", ["1:1 The file is empty: it needs `steps`"]],
  ["- run: a\n", ["1:1 This must be a mapping, with `key: value` on each line"]],
  ["steps\n", ["1:1 This must be a mapping, with `key: value` on each line"]],
  ["null\n", ["1:1 This must be a mapping, with `key: value` on each line"]],
  ["steps:\n", ["1:1 This key has no value"]],
  ["steps: []\n", ["1:8 This must not be empty"]],
  ["steps: a\n", ["1:8 This must be a list, with `- ` before each item"]],
  ["steps: { run: a }\n", ["1:8 This must be a list, with `- ` before each item"]],
  ["steps:\n  - a\n", ["2:5 A step is a mapping: write `- run: ` before the command"]],
  ["steps:\n  - name: a\n", ["2:5 The key `run` is missing here"]],
  ["steps:\n  - run:\n", ["2:5 This key has no value"]],
  ["steps:\n  - run: ''\n", ["2:10 This must not be empty"]],
  ["steps:\n  - run: [a]\n", ["2:10 This must be text: write `run: |` and the commands below it, one a line"]],
  ["name: [x]\nsteps:\n  - run: a\n", ["1:7 This must be text"]],
  ["nmae: x\nsteps:\n  - run: a\n", ["1:1 `nmae` is not a key of a pipeline file [name]"]],
  [
    "steps:\n  - run: a\n    working-directory: /tmp\n",
    ["3:24 A working-directory is relative to the checkout: it must not begin with /"],
  ],
  [
    "defaults: { run: { working-directory: a/../.. } }\nsteps:\n  - run: a\n  - run: b\n",
    ["1:39 A working-directory is inside the checkout: it must not have .. in it"],
  ],
  [
    "steps:\n  - run: a\n    working-directory: ${{ vars.A }}/..\n",
    ["3:24 A working-directory is inside the checkout: it must not have .. in it"],
  ],
  [
    "steps:\n  - run: a\n    working_directory: b\n",
    ["3:5 `working_directory` is not a key of a step [working-directory]"],
  ],
  [
    "steps:\n  - run: a\n    continueOnError: true\n",
    ["3:5 `continueOnError` is not a key of a step [continue-on-error]"],
  ],
  [
    "steps:\n  - uses: actions/checkout@v4\n    with: { fetch-depth: 0 }\n",
    [
      "2:5 `uses` is not a key of a step. Actions are not supported: write the commands in `run`. The checkout comes before the first step",
      "3:5 `with` is not a key of a step. `with` belongs to actions: pass values to the script with `env`",
    ],
  ],
  [
    "on: push\njobs:\n  build:\n    runs-on: ubuntu\n",
    [
      "1:5 Write a mapping, for example `on: { push: true, pull: true }`",
      "4:5 `runs-on` is not a key of a job. Write what the agent must have in `requires`, for example `requires: { platform: linux }`",
    ],
  ],
  [
    "stages: [build]\nscript: make\n",
    [
      "1:1 `stages` is not a key of a pipeline file. Write the jobs below `jobs`, each with its `steps`, and with `needs` for the jobs that it waits for",
      "2:1 `script` is not a key of a pipeline file. Write the commands as `steps`, each with its `run`",
    ],
  ],
  ["steps:\n  - script: make\n", ["2:5 `script` is not a key of a step. Write the script in `run`"]],
  ["steps:\n  - run: a\n    if: [x]\n", ["3:9 This must be text"]],
  ["steps:\n  - run: a\n    shell: bahs\n", ["3:12 This must be one of: bash, sh, pwsh, python, node [bash]"]],
  ["steps:\n  - run: a\n    shell: 7\n", ["3:12 This must be one of: bash, sh, pwsh, python, node"]],
  ["steps:\n  - run: a\n    timeout-minutes: 0\n", ["3:22 This must be a whole number from 1 to 1440"]],
  ["steps:\n  - run: a\n    timeout-minutes: 1.5\n", ["3:22 This must be a whole number from 1 to 1440"]],
  ["timeout-minutes: '60'\nsteps:\n  - run: a\n", ["1:18 This must be a whole number from 1 to 1440"]],
  ["steps:\n  - run: a\n    continue-on-error: yes\n", ["3:24 This must be true or false"]],
  ["steps:\n  - run: a\n    id: 1st\n", ["3:9 An id must be letters, digits, _ and -, not beginning with a digit"]],
  ["steps:\n  - run: a\n    id: x\n  - run: b\n    id: x\n", ["5:9 Another step already has this id"]],
  [
    "env:\n  1A: x\nsteps:\n  - run: a\n",
    ["2:3 The name of a variable must be letters, digits and _, and must not begin with a digit or MILLRACE_"],
  ],
  [
    "env:\n  MILLRACE_X: x\nsteps:\n  - run: a\n",
    ["2:3 The name of a variable must be letters, digits and _, and must not begin with a digit or MILLRACE_"],
  ],
  ["env:\n  A: [x]\nsteps:\n  - run: a\n", ["2:6 This must be text"]],
  ["env:\n  A:\nsteps:\n  - run: a\n", ["2:3 This key has no value"]],
  ["env: A=1\nsteps:\n  - run: a\n", ["1:6 This must be a mapping, with `key: value` on each line"]],
  ["requires: { platform: macOS }\nsteps:\n  - run: a\n", ["1:23 This must be one of: macos, linux [macos]"]],
  [
    "requires: { platform: windows }\nsteps:\n  - run: a\n",
    ["1:23 There is no agent for Windows: write macos or linux"],
  ],
  ["requires: { labels: gpu }\nsteps:\n  - run: a\n", ["1:21 This must be a list, with `- ` before each item"]],
  ["requires: { labels: ['a b'] }\nsteps:\n  - run: a\n", ["1:22 A label must be 1 to 100 of A-Z a-z 0-9 _ . : / = -"]],
  [
    "requires: { arch: arm }\nsteps:\n  - run: a\n",
    ["1:13 `arch` is not a key of `requires`. The keys are platform, ios, android, web, labels"],
  ],
  ["checkout: { depth: -1 }\nsteps:\n  - run: a\n", ["1:20 This must be a whole number from 0 to 1000000"]],
  ["checkout: { submodules: all }\nsteps:\n  - run: a\n", ["1:25 This must be one of: false, true, recursive"]],
  [
    "checkout: { fetch_tags: true }\nsteps:\n  - run: a\n",
    ["1:13 `fetch_tags` is not a key of `checkout` [fetch-tags]"],
  ],
  ["defaults: { shell: sh }\nsteps:\n  - run: a\n", ["1:13 `shell` is not a key of `defaults`. The keys are run"]],
  ["defaults: { run: { shel: sh } }\nsteps:\n  - run: a\n", ["1:20 `shel` is not a key of `defaults.run` [shell]"]],
  ["steps:\n  - run: a\n  - run: a\n   name: b\n", ["4:1 The indentation does not match the lines above"]],
  ["steps:\n\t- run: a\n", ["2:1 Indent with spaces, not tabs"]],
  ["name: 'x\nsteps:\n  - run: a\n", ["1:7 This text has no closing quote"]],
  [
    'name: "a\\q"\nsteps:\n  - run: a\n',
    ["1:9 There is no such escape in double quotes: write single quotes, or a second backslash"],
  ],
  ["name: a: b\nsteps:\n  - run: a\n", ["1:7 A value with `: ` in it needs quotes around it"]],
  ["name: @x\nsteps:\n  - run: a\n", ["1:7 A value cannot begin with this character: put it in quotes"]],
  ["name: *x\nsteps:\n  - run: a\n", ["1:7 This alias has no anchor before it"]],
  [
    "steps:\n  - if: !cancelled()\n    run: a\n",
    ["2:9 A word that begins with `!` is a tag in YAML: put quotes or ${{ }} around the whole value"],
  ],
  [
    "env: { A: ${{ vars.X }}, B: c }\nsteps:\n  - run: a\n",
    ["1:12 Inside { } or [ ] put quotes around a value with ${{ }} in it"],
  ],
  [
    "steps:\n  - { name: [a, ${{ b }}], run: x }\n",
    ["2:18 Inside { } or [ ] put quotes around a value with ${{ }} in it"],
  ],
  ['steps:\n  - run: "a" b\n', ["2:14 The value ends before this: put quotes around the whole value"]],
  [
    "steps:\n  - run: a\n---\nsteps:\n  - run: a\n",
    ["3:1 A pipeline file is one document: leave out the second `---`"],
  ],
  ["steps: [ { run: a }\n", ["2:1 A [ or { before this is never closed, or its content is not indented"]],
  ["name: a\nname: b\nsteps:\n  - run: a\n", ["2:1 This key appears twice"]],
  [
    "<<: { name: a }\nsteps:\n  - run: a\n",
    ["1:1 `<<` does not merge mappings here: write the keys, or use an alias for the whole mapping"],
  ],
  ["? [a]\n: b\nsteps:\n  - run: a\n", ["1:3 A key must be text"]],
  ['name: "a\\0b"\nsteps:\n  - run: a\n', ["1:7 This must not have a NUL character"]],
  ["name: ${{ build.branhc }}\nsteps:\n  - run: a\n", ["1:17 This context has no such property [branch]"]],
  ["name: a ${{ x\nsteps:\n  - run: a\n", ["1:9 This ${{ is never closed by }}"]],
  ["name: ${{ }}\nsteps:\n  - run: a\n", ["1:11 There is no expression between ${{ and }}"]],
  ["env:\n  A: ${{ steps.x.outputs.y }}\nsteps:\n  - run: a\n", ["2:16 This is evaluated before the first step runs"]],
  ['name: "é 🎉 ${{ a b }}"\nsteps:\n  - run: a\n', ["1:19 This is not expected here"]],
  ["steps:\n  - run: |\n      echo a\n        echo ${{ a b }}\n", ["4:20 This is not expected here"]],
  ["steps:\n  - run: >-\n      echo a\n      b ${{ a b }}\n", ["4:15 This is not expected here"]],
  [
    "steps:\n  - run: echo '${{ vars.X }}'\n",
    [
      '2:16 Inside single quotes the value would not be expanded: use double quotes, or set a variable under `env:` and write "$NAME"',
    ],
  ],
  [
    "steps:\n  - run: |\n      cat <<'E'\n      ${{ vars.X }}\n      E\n",
    [
      "4:7 In a heredoc with a quoted end word the value would not be expanded: remove the quotes from the word, or pass the value to the program in a variable set under `env:`",
    ],
  ],
  [
    "steps:\n  - run: print(${{ vars.X }})\n    shell: python\n",
    ['2:16 Python would read this as code: set a variable under `env:` and read os.environ["NAME"]'],
  ],
  [
    'steps:\n  - run: eval "${{ vars.X }}"\n',
    [
      '2:16 The value would become program code: set a variable under `env:` and write "$NAME" in single quotes, or pass it as an argument',
    ],
  ],
  [
    "steps:\n  - run: a\n    if: ${{ a }} == 'b'\n",
    ["3:9 Text around ${{ }} is always true: put the whole condition inside, or leave out ${{ }}"],
  ],
  ["steps:\n  - run: a\n    if: sucess()\n", ["3:9 There is no such function [success]"]],
  ["steps:\n  - run: a\n    if: github.ref == 'x'\n", ["3:9 There is no context `github` [build.branch]"]],
  [
    "steps:\n  - run: a\n    if: matrix.os == 'x'\n",
    ["3:9 There is no context `matrix`. Only a job has a matrix: write `jobs`"],
  ],
  ["steps:\n  - run: a\n    if: success\n", ["3:9 This is a function: call it with ( ) [success()]"]],
  [
    "steps:\n  - run: a\n    if: steps.b.outcome == 'success'\n  - run: b\n    id: b\n",
    ["3:15 There is no earlier step with this id"],
  ],
  [
    "steps:\n  - run: a\n    id: build\n  - run: echo ${{ steps.build.output.x }}\n",
    ["4:31 A step has no such property [outputs]"],
  ],
  ['steps:\n  - run: a\n    if: "a == \\"b\\""\n', ["3:15 Put text in single quotes: 'text'"]],
  ["steps:\n  - run: a\n    if: contains(vars.A)\n", ["3:9 This function needs more arguments"]],
  ["steps:\n  - run: a\n    if: 'it''s'\n", ["3:10 This character is not allowed here"]],
  ["steps:\n  - run: a\n    if: my-var == 'x'\n", ["3:9 No variable can have this name"]],
  ["steps:\r\n  - run: a\r\n    nmae: b\r\n", ["3:5 `nmae` is not a key of a step [name]"]],
  [
    "steps:\n  - &a { run: a, x: 1 }\n  - *a\n",
    [
      "2:18 `x` is not a key of a step. The keys are id, name, run, shell, env, if, working-directory, timeout-minutes, retry, continue-on-error",
    ],
  ],
  [
    "steps:\n  - run: a\n    env: { A: \"x ${{ formt('{0}', 'a') }}\", 'B-C': x }\n",
    [
      "3:22 There is no such function [format]",
      "3:45 The name of a variable must be letters, digits and _, and must not begin with a digit or MILLRACE_",
    ],
  ],
];

describe("a wrong pipeline file", () => {
  it.each(WRONG)("gets every mistake reported: %j", (file, expected) => {
    const { mistakes = [] } = parseFile(file);
    const said = mistakes.map(({ line, column, message, suggestion }) =>
      [`${line}:${column} ${message}`, ...(suggestion === undefined ? [] : [`[${suggestion}]`])].join(" "),
    );
    expect(said).toEqual(expected);
    expect(said.length).toBeGreaterThan(0);
  });

  it("has every mistake at once, in the file's order", () => {
    const file = WRONG.map(([, mistakes]) => mistakes.length);
    expect(Math.max(...file)).toBeGreaterThan(1);
    const { mistakes = [] } = parseFile("nmae: x\nsteps:\n  - rnu: a\n    if: sucess()\n  - run: eval ${{ X }}\n");
    expect(mistakes.map((one) => `${one.line}:${one.column}`)).toEqual(
      ["1:1", "3:5", "3:5", "4:9", "5:15"].filter((one, index, all) => all.indexOf(one) === index),
    );
  });
});
