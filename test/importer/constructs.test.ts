import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../src/assets/output-files.ts";
import { MARKS } from "../../src/importer/marks.ts";
import { deliveredImporter, mistakesIn, translate } from "./support/importer.ts";

const importer = await deliveredImporter();

const indented = (text: string, by: number): string =>
  text
    .split("\n")
    .map((line) => (line === "" ? "" : " ".repeat(by) + line))
    .join("\n");

/** Returns a workflow with one job and these keys at the top. */
const atTop = (keys: string): string =>
  `${keys}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make\n`;
/** Returns a workflow with these keys in its one job. */
const inJob = (keys: string): string =>
  `on: [push, pull_request]\njobs:\n  a:\n${indented(keys, 4)}\n    steps:\n      - run: make\n`;
/** Returns a workflow with these steps in its one job. */
const steps = (list: string): string =>
  `on: [push, pull_request]\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n${indented(list, 6)}\n      - run: make\n`;
const jobs = (list: string): string => `on: push\njobs:\n${indented(list, 2)}\n`;

type Row = [construct: string, workflow: string, parts: string[], kinds?: string[], absent?: string];

const TABLE: Row[] = [
  ["a push of anything", atTop("on: push"), ["push: true\n  tag: true\n"]],
  [
    "a push of branches only",
    atTop("on: { push: { branches: [main, 'v/**'] } }"),
    ["push:\n    branches: [main, v/**]"],
    [],
    "tag:",
  ],
  [
    "a push of branches and of no tag",
    atTop("on: { push: { branches: ['**'], tags: ['!**'] } }"),
    ['push:\n    branches: ["**"]'],
    [],
    "tag:",
  ],
  ["a push of nothing", atTop("on: { push: { tags: ['!**'] } }"), ["on:\n  {}\n"], [], "push:"],
  [
    "filters without a value",
    atTop("on:\n  push:\n    branches:\n    paths: [src/**]\n  pull_request: { branches: , types: }"),
    ["push:\n    paths: [src/**]\n  tag: true\n  pull: true\n"],
  ],
  [
    "keys of an event that GitHub ignores",
    atTop("on:\n  push:\n    inputs:\n      x: { type: string }\n    branches: [main]\n  workflow_dispatch: { x: y }"),
    ["push:\n    branches: [main]\n"],
    [],
    "inputs",
  ],
  [
    "inputs without a value, and inputs of nothing",
    atTop("on:\n  push:\n  workflow_dispatch:\n    inputs:\n      one:\n      two: # what\n"),
    ["`inputs`"],
    ["unknown"],
  ],
  ["no inputs", atTop("on:\n  push:\n  workflow_dispatch:\n    inputs:"), ["push: true"]],
  ["a push of tags only", atTop("on: { push: { tags: ['v*'] } }"), ["tag:\n    names: [v*]"], [], "push:"],
  [
    "paths are not looked at for tags",
    atTop("on: { push: { paths: ['src/**'] } }"),
    ["push:\n    paths: [src/**]\n  tag: true"],
  ],
  ["branches-ignore", atTop("on: { push: { branches-ignore: [wip] } }"), ['branches: ["**", "!wip"]'], [], "tag:"],
  ["a pattern with +", atTop("on: { push: { tags: ['v1+'] } }"), ["the pattern v1+", "  {}"], ["pattern"], "tag:"],
  [
    "a pattern with a class",
    atTop("on: { push: { tags: ['v[0-9]+.[0-9]', 'a[!b]'], paths: ['[0-9]'] } }"),
    ["the pattern a[!b]", "  {}"],
    ["pattern"],
  ],
  [
    "pull requests",
    atTop("on: { pull_request: { branches: [main], paths-ignore: ['docs/**'] } }"),
    ['base: [main]\n    paths: ["**", "!docs/**"]'],
  ],
  [
    "pull requests that are closed",
    atTop("on: { pull_request: { types: [closed] } }"),
    ["on:\n", "  {}"],
    ["event"],
    "pull: ",
  ],
  [
    "a time",
    atTop("on: { schedule: [{ cron: 30 2 * * 1 }] }"),
    ["on:\n  {}\n", "name: schedule-1\n    cron: 30 2 * * 1"],
  ],
  ["by hand", atTop("on: workflow_dispatch"), ["on:\n  {}\n"]],
  ["another event", atTop("on: [push, release]"), ["`release`"], ["event"]],
  ["no concurrency", atTop("on: push"), ["supersede: none"]],
  [
    "concurrency of a ref",
    atTop("on: push\nconcurrency: { group: 'ci-${{ github.ref }}', cancel-in-progress: true }"),
    ["supersede: all"],
  ],
  ...[
    "${{ github.head_ref || github.ref }}",
    "${{ github.workflow }} ✨ ${{ github.event.pull_request.head.label || github.head_ref || github.ref }}",
    "ci-${{ github.event.pull_request.number || github.ref_name }}-${{ github.repository }}",
  ].map(
    (group): Row => [
      `concurrency of ${group}`,
      atTop(`on: [push, pull_request]\nconcurrency: { group: "${group}", cancel-in-progress: true }`),
      ["supersede: all"],
    ],
  ),
  ...["${{ github.ref }}-${{ github.event_name }}", "${{ github.sha || github.ref }}", "${{ github.head_ref }}"].map(
    (group): Row => [
      `concurrency of ${group}`,
      atTop(`on: [push, pull_request]\nconcurrency: { group: "${group}", cancel-in-progress: true }`),
      ["supersede: none"],
      ["concurrency"],
    ],
  ),
  [
    "concurrency of everything",
    atTop("on: push\nconcurrency: all"),
    ["supersede: none", "the group all"],
    ["concurrency"],
  ],
  [
    "permissions of a token that no build gets",
    atTop("on: push\npermissions: { contents: read }"),
    ["on:\n"],
    [],
    "permissions",
  ],
  [
    "variables",
    atTop("on: push\nenv: { A: '${{ github.sha }}', B: 3.10 }"),
    ["A: ${{ build.commit }}", 'B: "3.1"', "3.10 is 3.1"],
    ["number"],
  ],
  [
    "defaults",
    atTop("on: push\ndefaults: { run: { working-directory: app, shell: sh } }"),
    ["working-directory: app", "shell: sh"],
  ],
  [
    "a comment",
    "on: push\njobs:\n  # the tests\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      # all\n      - run: make\n",
    ["  # the tests\n  a:", "# all\n"],
  ],

  ["macOS", inJob("runs-on: macos-latest"), ["platform: macos"]],
  [
    "a version of the system",
    inJob("runs-on: ubuntu-22.04"),
    ["platform: linux\n      labels: [ubuntu-22.04]"],
    ["label"],
  ],
  ["own runners", inJob("runs-on: [self-hosted, linux, gpu]"), ["labels: [gpu]"], ["label"]],
  ["Windows", inJob("runs-on: windows-latest"), ["checkout: false", "exit 1"], ["windows"], "make\n        "],
  [
    "Windows for all combinations",
    inJob("runs-on: ${{ matrix.os }}\nstrategy: { matrix: { os: [windows-2022, windows-latest] } }"),
    ["exit 1"],
    ["windows"],
  ],
  [
    "Windows among several systems",
    inJob(
      "runs-on: ${{ matrix.os }}\nif: github.ref_name == 'a' || always()\nstrategy: { matrix: { os: [ubuntu-latest, windows-latest, macos-latest] } }",
    ),
    [
      "platform: ${{ case(matrix.os == 'ubuntu-latest', 'linux', 'macos') }}",
      "if: ((build.event != 'pull' && (build.tag || build.branch) == 'a') || always()) && matrix.os != 'windows-latest'",
    ],
    ["windows"],
  ],
  [
    "several systems",
    inJob("runs-on: ${{ matrix.os }}\nstrategy: { matrix: { os: [ubuntu-latest, macos-latest] } }"),
    ["platform: ${{ case(matrix.os == 'ubuntu-latest', 'linux', 'macos') }}"],
  ],
  ["a time limit", inJob("runs-on: ubuntu-latest\ntimeout-minutes: 5"), ["timeout-minutes: 5"]],
  [
    "a fraction of a minute",
    inJob("runs-on: ubuntu-latest\ntimeout-minutes: 0.5"),
    ["timeout-minutes: 1"],
    ["timeout"],
  ],
  ["a job that may fail", inJob("runs-on: ubuntu-latest\ncontinue-on-error: true"), ["continue-on-error: true"]],
  [
    "an environment",
    inJob("runs-on: ubuntu-latest\nenvironment: production"),
    ["gate:\n      message: Deploy to production?"],
    ["approval"],
  ],
  [
    "a group of jobs",
    inJob("runs-on: ubuntu-latest\nconcurrency: { group: 'x-${{ github.workflow }}', cancel-in-progress: true }"),
    ["group: x-${{ 'ci.yml' }}\n      when-busy: cancel-running"],
  ],
  [
    "services",
    inJob("runs-on: ubuntu-latest\nservices: { db: { image: postgres } }"),
    ["`services`", "image: postgres", "start the services in a step, then remove the first step' >&2"],
    ["services"],
  ],
  [
    "a container of a job with a condition",
    inJob("runs-on: ubuntu-latest\ncontainer: node:24\nif: always() || github.ref_type == 'tag'"),
    ["`container`", "    if: always() || build.tag != null", "then remove the first step' >&2"],
    ["container"],
  ],
  [
    "no container, and no service",
    inJob("runs-on: ubuntu-latest\ncontainer: ''\nservices: {}"),
    ["run: make"],
    [],
    "if:",
  ],
  [
    "a matrix, which fails fast there",
    inJob("runs-on: ubuntu-latest\nstrategy: { matrix: { n: [22, 24] }, max-parallel: 1 }"),
    ['n: ["22", "24"]', "fail-fast: true", "max-parallel: 1"],
  ],
  [
    "a number that is another text",
    inJob("runs-on: ubuntu-latest\nstrategy: { matrix: { python: [3.9, 3.10] } }"),
    ['python: ["3.9", "3.1"]', "3.10 is 3.1"],
    ["number"],
  ],
  [
    "a computed matrix",
    inJob("runs-on: ubuntu-latest\nstrategy: { matrix: { n: '${{ fromJSON(vars.N) }}' } }"),
    ["exit 1"],
    ["matrix"],
  ],
  [
    "a called workflow, which fails where it would run",
    jobs("a:\n  uses: ./.github/workflows/b.yml\n  if: github.ref_type == 'tag'"),
    ["if: build.tag != null\n    checkout: false", "exit 1"],
    ["reusable"],
  ],

  ["no checkout", steps("- run: date"), ["checkout: false"]],
  ["a checkout", steps("- uses: actions/checkout@v4"), ["steps:\n      - run: make\n"], [], "checkout"],
  [
    "the whole history",
    steps("- uses: actions/checkout@v4\n  with: { fetch-depth: 0, submodules: recursive }"),
    ["depth: 0\n      submodules: recursive\n      fetch-tags: true"],
  ],
  [
    "a checkout after steps that look at no file",
    steps(
      "- run: echo 'A=b' >> $GITHUB_ENV\n- run: sudo apt-get update && sudo apt-get install -y make\n- uses: actions/checkout@v4",
    ),
    ["sudo apt-get update"],
  ],
  [
    "a checkout after a step that may look at files",
    steps("- run: ls > list\n- uses: actions/checkout@v4"),
    ["a checkout under a condition, or after other steps"],
    ["checkout-first"],
  ],
  [
    "a checkout after a step that prints the names of files",
    steps("- run: echo *\n- uses: actions/checkout@v4"),
    ["a checkout under a condition, or after other steps"],
    ["checkout-first"],
  ],
  [
    "a checkout after a setting of git",
    steps("- run: git config --global core.autocrlf true\n- uses: actions/checkout@v4"),
    ["a checkout under a condition, or after other steps"],
    ["checkout-first"],
  ],
  [
    "what Android needs",
    steps("- uses: android-actions/setup-android@v3"),
    ["requires:\n      platform: linux\n      android: true"],
  ],
  [
    "a workflow that others call too",
    atTop("on: { push: , workflow_call: { inputs: { a: { type: string } } } }"),
    ["push: true"],
  ],
  [
    "a platform of which the matrix is a part",
    inJob("runs-on: ${{ matrix.os }}-latest\nstrategy: { matrix: { os: [ubuntu, macos] } }"),
    ["platform: ${{ case(matrix.os == 'ubuntu', 'linux', 'macos') }}"],
  ],
  [
    "an artifact of each combination",
    inJob("runs-on: ubuntu-latest\nstrategy: { matrix: { n: [1] } }").replace(
      "- run: make",
      "- run: make\n      - uses: actions/upload-artifact@v4\n        with: { name: 'log-${{ matrix.n }}-${{ github.sha }}-x', path: log }",
    ),
    ["- name: log-x\n"],
  ],
  [
    "another checkout",
    steps("- uses: actions/checkout@v4\n  with: { repository: a/b, path: b, ref: v1 }"),
    [
      "run: |-\n          git init -q b\n          git -C b fetch -q --depth 1 https://github.com/a/b v1\n          git -C b checkout -q FETCH_HEAD\n",
    ],
    ["clone"],
  ],
  ...[
    "repository: a/b",
    "repository: a/b, path: ../b",
    "repository: a/b, path: b, ref: '$(id)'",
    "repository: a/b, path: b, ref: --upload-pack=id",
    "repository: a/b, path: b, submodules: true",
    "repository: a/b, path: b, token: '${{ secrets.T }}'",
    "path: b, submodules: true",
    "path: b, ref: next",
    "path: ../b",
    "repository: '${{ github.event.pull_request.head.repo.full_name }}'",
    "repository: '${{ github.event.pull_request.head.repo.full_name }}', ref: next",
  ].map(
    (inputs): Row => [
      `another checkout with ${inputs}`,
      steps(`- uses: actions/checkout@v4\n  with: { ${inputs} }`),
      ["another checkout", "exit 1"],
      ["checkout"],
      "git ",
    ],
  ),
  [
    "a checkout in a folder of its own",
    steps("- uses: actions/checkout@v4\n  with: { path: '${{ github.workspace }}/b' }"),
    ["run: git worktree add --detach b HEAD\n"],
    ["checkout-again"],
    "checkout: false",
  ],
  [
    "the folder of the steps, from that of the checkout",
    inJob("runs-on: ubuntu-latest\ndefaults: { run: { working-directory: '${{ github.workspace }}/b' } }"),
    ["working-directory: b\n"],
  ],
  [
    "the checkout of a pull request's own repository",
    steps(
      "- uses: actions/checkout@v4\n  with: { repository: '${{ github.event.pull_request.head.repo.full_name }}', ref: '${{ github.event.pull_request.head.sha }}' }",
    ),
    ["steps:\n      - run: make\n"],
    [],
    "checkout",
  ],
  [
    "a step of its own folder and shell",
    steps(
      "- name: In ${{ github.ref_name }}\n  id: one\n  shell: pwsh\n  working-directory: app\n  continue-on-error: true\n  timeout-minutes: 3\n  run: ls",
    ),
    ["id: one", "shell: pwsh", "working-directory: app", "timeout-minutes: 3", "continue-on-error: true"],
  ],
  ["a pipe, whose failure does not count there", steps("- run: a | b"), ["set +o pipefail\n          a | b"]],
  ["a pipe in bash, whose failure counts", steps("- run: a | b\n  shell: bash"), ["run: a | b"], [], "pipefail"],
  ["two bars are no pipe", steps("- run: a || b"), ["run: a || b"], [], "pipefail"],
  ["bash without -e", steps("- run: a\n  shell: bash {0}"), ["set +e\n"]],
  [
    "a shell that is not here",
    steps("- run: a\n  shell: perl {0}"),
    ["`shell: perl {0}`", "- name: Not translated\n        run: |-\n          echo '", "exit 1\n      - run: make"],
    ["shell"],
  ],
  [
    "what a step tells others",
    steps('- run: echo "a=b" >> "$GITHUB_OUTPUT"; echo x >> $GITHUB_PATH; cat a >> "${GITHUB_STEP_SUMMARY}"'),
    ['>> "$MILLRACE_OUTPUT"; echo x >> $MILLRACE_PATH; cat a >> "${MILLRACE_SUMMARY}"'],
  ],
  [
    "the branch that is checked out",
    steps("- run: git branch --show-current"),
    ['run: |-\n          [ -n "$MILLRACE_TAG$MILLRACE_PULL" ] || git symbolic-ref -q HEAD'],
  ],
  ["a commit's short name", steps("- run: git rev-parse --short HEAD"), ["run: git rev-parse --short HEAD"]],
  [
    "the branch that is checked out, for a program",
    steps("- shell: python\n  run: os.system('git branch --show-current')"),
    ["# import: a step with the name of the branch"],
    ["script"],
  ],
  [
    "the folder of the checkout, for a program",
    steps("- shell: python\n  run: os.environ['GITHUB_WORKSPACE']"),
    ["# import"],
    ["script"],
  ],
  ...[
    "process.env.RUNNER_TOOL_CACHE",
    "printenv RUNNER_TOOL_CACHE",
    "docker run -e RUNNER_TOOL_CACHE x",
    'os.environ[\\"RUNNER_TOOL_CACHE\\"]',
  ].map(
    (way): Row => [
      `a variable that no agent sets, by ${way}`,
      steps(`- run: |\n    ${way}`),
      ["# import: a step"],
      ["script"],
    ],
  ),
  [
    "a variable that the script sets",
    steps("- run: RUNNER_TOOL_CACHE=/x; ls $RUNNER_TOOL_CACHE"),
    ["run: RUNNER_TOOL_CACHE=/x; ls"],
  ],
  ["a mask", steps('- run: echo "::add-mask::$X"'), ['echo "$X" >> "$MILLRACE_MASK"']],
  ["a mask in a program", steps("- run: printf '::add-mask::%s' \"$X\""), ["::add-mask::%s"]],
  ["a variable of the runner", steps("- run: echo $GITHUB_SHA"), ["env:\n          GITHUB_SHA: ${{ build.commit }}"]],
  ["a variable that no agent sets", steps("- run: ls $RUNNER_TOOL_CACHE"), ["$RUNNER_TOOL_CACHE"], ["script"]],
  [
    "an expression in a script",
    steps('- run: echo "${{ github.sha }}" ${{ vars.FLAG }}'),
    ['VARS_FLAG: ${{ vars.FLAG }}\n        run: echo "${{ build.commit }}" $VARS_FLAG'],
  ],
  [
    "an expression that is several words in a shell that has no such thing",
    steps("- shell: pwsh\n  run: echo ${{ vars.FLAG }}"),
    ["run: echo ${{ vars.FLAG }}"],
    ["words"],
  ],
  ["an expression in single quotes", steps("- run: echo '${{ github.sha }}'"), ["# import: a step"], ["script"]],
  [
    "a condition without an equivalent",
    steps("- run: ls\n  if: github.actor == 'me'"),
    ["- if: false", "github.actor"],
    ["expression"],
  ],
  ["text around a condition", steps("- run: ls\n  if: ${{ false }} == true"), ["- if: false"], ["always-true"]],
  [
    "its own variable in a condition",
    steps("- run: ls\n  if: env.A == 'b'\n  env: { A: b }"),
    ["- if: false"],
    ["expression"],
  ],
  [
    "a variable beside it",
    steps("- run: ls\n  env: { A: b, C: '${{ env.A }}' }"),
    ["# import: a step with the variable C: ", "exit 1\n      - run: make"],
    ["expression"],
  ],
  [
    "variables with the folder of the checkout",
    inJob(
      "runs-on: ubuntu-latest\nenv: { A: '${{ github.workspace }}/a', B: 'x', C: '${{ github.workspace }}$(id)' }\ndefaults: { run: { working-directory: w } }",
    ),
    [
      "env:\n      B: x\n",
      'working-directory: .\n        run: echo "A=$PWD/a" >> "$MILLRACE_ENV"\n      - run: make',
      "C with `github.workspace`",
    ],
    ["expression"],
  ],
  [
    "a variable of the job without an equivalent, where a script names it",
    inJob("runs-on: ubuntu-latest\nenv: { FOLDER: '${{ github.actor }}/x' }").replace(
      "run: make",
      'run: ls\n      - run: rm -r "$FOLDER"/*\n      - if: env.FOLDER == 0\n        run: make',
    ),
    [
      "# import: FOLDER with",
      "- run: ls\n      # import: a step with the variable FOLDER, which",
      "exit 1\n        # import: `if` with",
    ],
    ["expression", "expression", "expression"],
  ],
  [
    "the token of GitHub",
    steps("- run: ls\n  env: { T: '${{ secrets.GITHUB_TOKEN }}' }"),
    ["# import: T with"],
    ["token"],
  ],
  [
    "an action",
    steps("- uses: a/b@v1\n  with: { c: d }"),
    ["# import: a/b: ", "#    - uses: a/b@v1", "#      with: { c: d }", "- name: a/b\n", "exit 1\n      - run: make"],
    ["action"],
  ],
  [
    "an action under a condition, and one that may fail",
    steps("- uses: a/b@v1\n  if: github.ref_type == 'tag'\n- uses: a/c@v1\n  continue-on-error: true"),
    ["- name: a/b\n        if: build.tag != null\n        run:"],
    ["action", "action"],
    "name: a/c",
  ],
  [
    "an action under a condition without an equivalent",
    steps("- uses: a/b@v1\n  if: github.actor == 'me'"),
    ["- name: a/b\n        run:"],
    ["action"],
  ],
  [
    "a step that may fail where a matrix says so",
    steps("- run: lint\n  continue-on-error: ${{ matrix.x == 1 }}"),
    ["until you write true", "run: lint\n"],
    ["may-fail"],
    "        continue-on-error:",
  ],
  [
    "steps beside others",
    steps("- id: a\n  run: serve\n  background: true\n- wait: a\n- wait-all:\n- cancel: a"),
    ["a step with `wait`", "a step with `wait-all`", "a step with `cancel`", "exit 1"],
    ["unknown", "unknown", "unknown", "unknown"],
    "\n        run: serve",
  ],
  [
    "an action that no later step can need",
    steps("- uses: codecov/codecov-action@v4"),
    ["steps:\n      # import"],
    ["report-elsewhere"],
    "exit 1",
  ],
  ["an action of the repository", steps("- uses: ./.github/actions/x"), ["`include`"], ["template"]],
  ["a script with the token", steps("- uses: actions/github-script@v7"), ["actions/github-script"], ["action-script"]],
  [
    "an artifact",
    steps("- run: make\n- uses: actions/upload-artifact@v4\n  with: { path: dist }"),
    ['artifacts:\n      - name: artifact\n        path: [dist, "!dist/**/.**"]\n        if-none: warn\n'],
  ],
  [
    "an artifact of several paths, after a failure",
    steps(
      "- run: make\n- uses: actions/upload-artifact@v4\n  if: ${{ !cancelled() }}\n  with:\n    name: shots\n    path: |\n      ./out/*.png\n      ${{ github.workspace }}/log\n      !out/x.png\n    retention-days: 3\n    if-no-files-found: error",
    ),
    ["actions/upload-artifact with paths of several folders with exclusions"],
    ["artifact"],
    "artifacts:\n",
  ],
  [
    "an artifact whose name is computed",
    steps("- run: make\n- uses: actions/upload-artifact@v4\n  with: { name: 'a-${{ github.head_ref }}', path: dist }"),
    [
      `if [ -n "$(find -L dist -type f -not -path '*/.*' 2> /dev/null)" ]; then\n`,
      'echo "a-${{ build.pull.branch }}=dist"\n',
      'echo "a-${{ build.pull.branch }}=!dist/**/.**"\n',
      '} >> "$MILLRACE_ARTIFACT"',
    ],
    [],
    "artifacts:\n",
  ],
  [
    "an artifact under a condition",
    steps(
      "- run: make\n- uses: actions/upload-artifact@v4\n  if: matrix.x == 1\n  with: { path: a.log, if-no-files-found: error }",
    ),
    ['- if: null == 1\n        run: echo "artifact=a.log" >> "$MILLRACE_ARTIFACT"'],
  ],
  ...['a"b', "a`b`", "$(b)", "a'b"].map(
    (sign): Row => [
      `a path with ${sign} for an artifact under a condition`,
      steps(
        `- run: make\n- uses: actions/upload-artifact@v4\n  if: matrix.x == 1\n  with: { path: ${JSON.stringify(sign)}, if-no-files-found: error }`,
      ),
      ["with `if: matrix.x == 1`"],
      ["artifact"],
      "MILLRACE_ARTIFACT",
    ],
  ),
  [
    "a path below a hidden folder for an artifact under a condition",
    steps("- run: make\n- uses: actions/upload-artifact@v4\n  if: matrix.x == 1\n  with: { path: a/.b/c }"),
    ["with `if: "],
    ["artifact"],
    "MILLRACE_ARTIFACT",
  ],
  [
    "an artifact outside of the checkout",
    steps("- run: make\n- uses: actions/upload-artifact@v4\n  with: { path: /var/log }"),
    ["# import: actions/upload-artifact ("],
    ["refused"],
    "artifacts:\n",
  ],
  [
    "an artifact that another job fetches",
    `on: push
jobs:
  a:
    runs-on: ubuntu-latest
    steps: [{ run: make }, { uses: actions/upload-artifact@v4, with: { name: app, path: dist } }]
  b:
    needs: a
    runs-on: ubuntu-latest
    steps:
      - uses: actions/download-artifact@v4
        with: { name: app, path: in/ }
      - run: ls in
`,
    ["downloads:\n      - from: a\n        artifact: app\n        to: in\n"],
  ],
  ...(
    [
      ["of a matrix", "strategy: { matrix: { n: [1] } }, ", "app-${{ matrix.n }}", "needs: a, ", "artifact-folders"],
      ["with a name that is computed", "", "app-${{ github.head_ref }}", "needs: a, ", "artifact"],
      ["of a job that may run at the same time", "", "app", "", "artifact"],
    ] as const
  ).map(
    ([what, keys, name, needs, kind]): Row => [
      `all artifacts at once, ${what}`,
      jobs(
        `a: { ${keys}runs-on: ubuntu-latest, steps: [{ run: make }, { uses: actions/upload-artifact@v4, with: { name: "${name}", path: dist } }] }\nb: { ${needs}runs-on: ubuntu-latest, steps: [{ uses: actions/download-artifact@v4 }, { run: ls }] }`,
      ),
      ["exit 1\n      - run: ls"],
      [kind],
      kind === "artifact" ? "downloads:\n" : undefined,
    ],
  ),
  [
    "all artifacts, of which an action of the repository may leave some",
    jobs(
      "a: { runs-on: ubuntu-latest, steps: [{ uses: ./x }] }\nb: { needs: a, runs-on: ubuntu-latest, steps: [{ uses: actions/download-artifact@v4 }] }",
    ),
    ["exit 1"],
    ["template", "artifact"],
    "downloads:\n",
  ],
  [
    "all artifacts at once, and one of nobody",
    steps(
      "- uses: actions/download-artifact@v4\n- uses: actions/download-artifact@v4\n  with: { name: x }\n- run: make",
    ),
    ["with artifacts that no job of this file uploads", "with x, which no job of this file uploads under this name"],
    ["artifact", "artifact"],
    "downloads:\n",
  ],
  [
    "a cache with a lock file",
    steps(
      "- uses: actions/cache@v4\n  with:\n    path: |\n      ~/.npm\n      .next/cache\n    key: ${{ runner.os }}-npm-${{ hashFiles('**/package-lock.json') }}\n    restore-keys: ${{ runner.os }}-npm-\n- run: npm ci",
    ),
    ['cache:\n      - name: cache\n        path: [~/.npm, .next/cache]\n        files: "**/package-lock.json"\n'],
  ],
  [
    "a cache that is only read, and one that is saved apart",
    steps(
      "- uses: actions/cache/restore@v4\n  with: { path: x, key: y }\n- run: make\n- uses: actions/cache/save@v4\n  with: { path: x, key: y }",
    ),
    ["path: x\n        key: y\n    steps"],
    [],
    "save:",
  ],
  [
    "a cache that is saved by the key of the step that restored it, also after a failure",
    steps(
      "- uses: actions/cache/restore@v4\n  id: c\n  with: { path: x, key: y }\n- run: make\n- uses: actions/cache/save@v4\n  if: always()\n  with: { path: x, key: '${{ steps.c.outputs.cache-primary-key }}' }",
    ),
    ["path: x\n        key: y\n        save: always\n"],
  ],
  [
    "a cache that hands files to another job",
    steps("- run: make\n- uses: actions/cache/save@v4\n  with: { path: x, key: y }"),
    [
      "# import: actions/cache/save with a key that this job has not restored: use `artifacts` and `downloads` for files",
    ],
    ["cache-handed-over"],
    "exit 1",
  ],
  [
    "a cache without which the job fails",
    steps("- uses: actions/cache/restore@v4\n  with: { path: x, key: y, fail-on-cache-miss: true }\n- run: ./deploy"),
    [
      "- name: actions/cache/restore\n        run: |-\n          echo 'use `artifacts` and `downloads` for files",
      "exit 1\n      - run: ./deploy",
    ],
    ["cache-handed-over"],
    "cache:\n",
  ],
  [
    "a cache that is only looked for",
    steps("- uses: actions/cache@v4\n  with: { path: x, key: y, lookup-only: true }"),
    ["`lookup-only: true`"],
    ["cache"],
    "cache:\n",
  ],
  [
    "a cache, of which no step hears whether it was found",
    steps(
      "- uses: actions/cache@v4\n  id: c\n  with: { path: x, key: y }\n- run: npm ci\n  if: steps.c.outputs.cache-hit != 'true'",
    ),
    ["steps:\n      - run: npm ci", "name: c\n        path: x\n        key: y\n"],
  ],
  [
    "what an action has told",
    steps("- uses: a/b@v1\n  id: c\n- run: ls\n  if: steps.c.outputs.x == 'y'"),
    ["- if: false"],
    ["action", "expression"],
  ],
  [
    "a job of nothing that runs",
    jobs("a:\n  runs-on: ubuntu-latest\n  steps:\n    - uses: codecov/codecov-action@v4"),
    ["name: Not translated", "exit 1"],
    ["report-elsewhere", "empty"],
    "if: false",
  ],
  [
    "what a job tells others",
    jobs(
      "a:\n  runs-on: ubuntu-latest\n  outputs: { X: '${{ steps.one.outputs.x }}' }\n  steps:\n    - id: one\n      run: ls\nb:\n  needs: a\n  runs-on: ubuntu-latest\n  steps:\n    - run: echo \"${{ needs.A.outputs.x }}\"",
    ),
    ["X: ${{ steps.one.outputs.x }}", "needs: [a]", '"${{ needs.a.outputs.X }}"'],
  ],
  [
    "a name that another job decides",
    jobs(
      "a:\n  runs-on: ubuntu-latest\n  outputs: { x: '1' }\n  steps:\n    - run: ls\nb:\n  needs: a\n  name: b ${{ needs.a.outputs.x }}\n  runs-on: ubuntu-latest\n  steps:\n    - run: date",
    ),
    ["run: date"],
    ["expression"],
  ],
  [
    "outputs of a matrix",
    jobs(
      "a:\n  runs-on: ubuntu-latest\n  strategy: { matrix: { n: [1] } }\n  outputs: { x: '1' }\n  steps:\n    - run: ls\nb:\n  needs: a\n  if: needs.a.outputs.x\n  runs-on: ubuntu-latest\n  steps:\n    - run: ls",
    ),
    ["write an `if` for the job, then remove this step' >&2"],
    ["expression"],
  ],
];

describe("a construct of a workflow", () => {
  it.each(TABLE)("%s", async (_, workflow, parts, kinds = [], absent) => {
    const made = await translate(importer, workflow);
    expect(made.kinds).toEqual(kinds);
    for (const part of parts) expect(made.text).toContain(part);
    if (absent !== undefined) expect(made.text).not.toContain(absent);
    expect(made.text.match(/# import: /g) ?? []).toHaveLength(kinds.length);
  });

  it("is checked by the project's own parser", () => {
    expect(mistakesIn("jobs: { a: { runs-on: x, steps: [{ run: make }] } }")).not.toEqual([]);
  });

  it("keeps its comments, empty lines and the order of its keys", async () => {
    const workflow = `# Licence: free

# what for
name: CI # always

on: push # of all
permissions: {} # none
env:
  # first
  A: 1

  B: 2 # second
jobs:
  # the tests
  test:
    # three
    strategy:
      matrix:
        n: [1, 2] # two
    runs-on: ubuntu-latest
    env: { C: c }

    steps:
      # the code
      - uses: actions/checkout@0123456 # v4

      # all
      - run: |
          # in the script
          make # here
        # why

      - if: failure() # then
        run: "echo '# no comment'"
# the end
`;
    const { text, kinds } = await translate(importer, workflow);
    expect(kinds).toEqual([]);
    expect(text).toBe(`# Licence: free
#
# what for
# always
name: CI

# of all
on:
  push: true
  tag: true
supersede: none
env:
  # first
  A: "1"

  # second
  B: "2"
jobs:
  # the tests
  test:
    # three
    # two
    matrix:
      n: ["1", "2"]
    fail-fast: true
    requires:
      platform: linux
    env:
      C: c

    steps:
      # the code

      # all
      - run: |
          # in the script
          make # here
      # why
      # then
      - if: failure()
        run: echo '# no comment'

# the end
`);
  });

  it("ends with a summary of its marks, their lines and minutes", async () => {
    const { text } = await translate(
      importer,
      steps("- uses: a/b@v1\n- uses: a/c@v1\n- run: ls\n  timeout-minutes: 0.5"),
    );
    const lines = text.split("\n");
    const printedAt = (word: string) => lines.findIndex((line) => line.includes(`# import: ${word}`)) + 1;
    expect(lines.slice(-4)).toEqual([
      "# The import left 3 marks, about 11 minutes of work:",
      `#   action, 10 minutes: lines ${printedAt("a/b")}, ${printedAt("a/c")}`,
      `#   timeout, 1 minute: line ${printedAt("`timeout-minutes")}`,
      "",
    ]);
  });

  it("counts marks with the same text once", async () => {
    const sumOf = async (list: string) => {
      const made = await importer.importWorkflow(steps(list), "ci.yml");
      return [importer.minutesOf(made.marks ?? []), /about (\d+ minutes?)/.exec(made.text ?? "")?.[1]];
    };
    const use = (action: string, input: string) => `- uses: ${action}@v1\n  with: { x: ${input} }\n`;
    expect(await sumOf(use("a/b", "1") + use("a/b", "1"))).toEqual([5, "5 minutes"]);
    expect(await sumOf(use("a/b", "1") + use("a/b", "2"))).toEqual([10, "10 minutes"]);
  });

  it("becomes a mark if the parser rejects its translation", async () => {
    const made = await translate(importer, steps("- run: ls\n  working-directory: ../x"));
    expect(made.kinds).toEqual(["refused"]);
    expect(made.text).toContain("it must not have .. in it");
  });
});

describe("a workflow with chance mistakes", () => {
  const WORKFLOWS = TABLE.map(([, workflow]) => workflow);
  const WORDS = [...new Set(WORKFLOWS.flatMap((workflow) => workflow.match(/[\w.*/-]+|'[^'\n]*'/g) ?? []))];
  const SIGNS = [
    "",
    "\n",
    ":",
    "- ",
    "[",
    "]",
    "}",
    "&a ",
    "*a",
    "${{ ",
    " }}",
    "'",
    '"',
    "|",
    "#",
    "null",
    "0x",
    "\u0000",
  ];
  const place = fc.nat(9999).map((part) => part / 10_000);
  const workflow = fc.constantFrom(...WORKFLOWS);

  /** Counts how many of these workflows have a translation. Each translation must have no mistakes. */
  const translatedOf = async (workflows: fc.Arbitrary<string>): Promise<number> => {
    let translated = 0;
    await fc.assert(
      fc.asyncProperty(workflows, async (one) => {
        const { text } = await importer.importWorkflow(one, "ci.yml");
        if (text === undefined) return;
        translated++;
        expect(mistakesIn(text)).toEqual([]);
      }),
      { numRuns: 1000 },
    );
    return translated;
  };

  it("in its words is refused, or its translation has no mistakes", async () => {
    const changed = fc.tuple(workflow, place, fc.constantFrom(...WORDS)).map(([text, at, word]) => {
      const places = [...text.matchAll(/[\w.*/-]+|'[^'\n]*'/g)];
      const { index, 0: before } = places[Math.floor(at * (places.length - 1))]!;
      return text.slice(0, index) + word + text.slice(index + before.length);
    });
    expect(await translatedOf(changed)).toBeGreaterThan(100);
  });

  it("in its signs is refused, or its translation has no mistakes", async () => {
    const changed = fc.tuple(workflow, place, fc.nat(4), fc.constantFrom(...SIGNS)).map(([text, at, removed, sign]) => {
      const start = Math.floor(at * text.length);
      return text.slice(0, start) + sign + text.slice(start + removed);
    });
    expect(await translatedOf(changed)).toBeGreaterThan(0);
  });
});

describe("a kind of mark", () => {
  it.each(Object.entries(MARKS))(
    "%s is in the documentation with its reason and minutes",
    (kind, { reason, minutes }) => {
      expect(readFileSync(join(ROOT, "docs/import.md"), "utf8")).toContain(`| ${kind} | ${minutes} | ${reason} |`);
    },
  );
});
