import { describe, expect, it } from "vitest";
import { idiomsIn } from "../../../src/pipeline/advice/scripts.ts";
import { formatMistake } from "../../../src/pipeline/mistake.ts";
import { parseFile } from "../../../src/pipeline/parse/parse.ts";

const told = (file: string): string[] =>
  (parseFile(file).mistakes ?? []).map((mistake) => formatMistake("f", mistake).slice(2));

const run = (script: string, more = ""): string => `${more}steps:\n  - run: ${JSON.stringify(script)}\n`;

/** Files by people who know another system, and the messages that they get. */
const TYPED: [from: string, file: string, ...mistakes: string[]][] = [
  ["an unknown key", "steps:\n  - run: make\n    nam: x\n", "3:5: `nam` is not a key of a step. Did you mean `name`?"],
  [
    "an unknown key",
    "steps:\n  - run: make\n    frobnicate: x\n",
    "3:5: `frobnicate` is not a key of a step. The keys are id, name, run, shell, env, if, working-directory, timeout-minutes, retry, continue-on-error",
  ],
  [
    "an unknown key",
    "frobnicate: x\nsteps:\n  - run: make\n",
    "1:1: `frobnicate` is not a key of a pipeline file. The keys are name, env, defaults, requires, timeout-minutes, checkout, tools, groups, artifacts, cache, reports, retry, steps, on, supersede, schedule",
  ],
  [
    "several",
    "cache: { paths: [node_modules] }\nsteps:\n  - run: make\n",
    "1:8: Write a list, for example `[{ name: npm, files: package-lock.json, path: ~/.npm }]`",
  ],
  [
    "several",
    "steps:\n  - run: make\n    artifacts: { paths: [dist] }\n",
    "3:5: `artifacts` is not a key of a step. Write `artifacts: [{ name: app, path: build/*.ipa }]` beside `steps`",
  ],
  [
    "GitHub",
    "matrix: { os: [a] }\nsteps:\n  - run: make\n",
    "1:1: `matrix` is not a key of a pipeline file. Write `jobs`: this is for a job, beside its `steps`",
  ],
  [
    "GitHub",
    "needs: build\nsteps:\n  - run: make\n",
    "1:1: `needs` is not a key of a pipeline file. Write `jobs`: this is for a job, beside its `steps`",
  ],
  [
    "CircleCI",
    "workflows: { main: x }\nsteps:\n  - run: make\n",
    "1:1: `workflows` is not a key of a pipeline file. Write the jobs below `jobs`, each with its `steps`, and with `needs` for the jobs that it waits for",
  ],
  [
    "GitLab",
    "before_script: [npm ci]\nsteps:\n  - run: make\n",
    "1:1: `before_script` is not a key of a pipeline file. Write the commands as the first step, or at the beginning of `run`",
  ],
  [
    "GitLab",
    "rules: [{ if: x }]\nsteps:\n  - run: make\n",
    "1:1: `rules` is not a key of a pipeline file. Write `on`, for example `on: { push: { branches: [main] }, pull: true }`",
  ],
  [
    "Azure",
    "trigger: [main]\nsteps:\n  - run: make\n",
    "1:1: `trigger` is not a key of a pipeline file. Write `on`, for example `on: { push: { branches: [main] }, pull: true }`",
  ],
  [
    "GitLab",
    "stages: [build]\nbuild-job:\n  stage: build\n  image: node\n  script: [npm ci]\n  rules: [{ if: x }]\n",
    "1:1: `stages` is not a key of a pipeline file. Write the jobs below `jobs`, each with its `steps`, and with `needs` for the jobs that it waits for",
    "2:1: `build-job` is not a key of a pipeline file. Write the jobs below `jobs`, each with its `steps`, and with `needs` for the jobs that it waits for",
    "3:3: `stage` is not a key of a job. There are no stages: write `needs`, a list of the jobs to wait for",
    "4:3: `image` is not a key of a job. Write what the agent must have in `requires`, for example `requires: { platform: linux }`",
    "5:3: `script` is not a key of a job. Write the commands as `steps`, each with its `run`",
    "6:3: `rules` is not a key of a job. Write `if`, for example `if: build.branch == 'main'`",
  ],
  ["Buildkite", "steps:\n  - run: make\n    label: x\n", "3:5: `label` is not a key of a step. Write `name`"],
  ["Buildkite", "steps:\n  - run: make\n    key: x\n", "3:5: `key` is not a key of a step. Write `id`"],
  [
    "Buildkite",
    "steps:\n  - run: make\n    depends_on: x\n",
    "3:5: `depends_on` is not a key of a step. Steps run in the order written: this is not needed",
  ],
  [
    "GitLab",
    "steps:\n  - run: make\n    allow_failure: true\n",
    "3:5: `allow_failure` is not a key of a step. Write `continue-on-error: true`",
  ],
  [
    "Buildkite",
    "steps:\n  - run: make\n    soft_fail: true\n",
    "3:5: `soft_fail` is not a key of a step. Write `continue-on-error: true`",
  ],
  [
    "Woodpecker",
    "steps:\n  - run: make\n    failure: ignore\n",
    "3:5: `failure` is not a key of a step. Write `continue-on-error: true`",
  ],
  [
    "Buildkite",
    "steps:\n  - run: make\n    retry: { automatic: true }\n",
    "3:14: `automatic` is not a key of `retry`. Write `times`: the tries after the first one",
  ],
  [
    "Buildkite",
    "steps:\n  - run: make\n    branches: main\n",
    "3:5: `branches` is not a key of a step. Write a condition in `if`, for example `if: build.branch == 'main'`",
  ],
  ["Azure", "steps:\n  - run: make\n    displayName: x\n", "3:5: `displayName` is not a key of a step. Write `name`"],
  [
    "Azure",
    "steps:\n  - run: make\n    condition: always()\n",
    "3:5: `condition` is not a key of a step. Write a condition in `if`, for example `if: build.branch == 'main'`",
  ],
  [
    "Woodpecker",
    "steps:\n  - run: make\n    secrets: [token]\n",
    "3:5: `secrets` is not a key of a step. Secrets are stored in the service: write `${{ secrets.NAME }}` in `env`",
  ],
  [
    "Buildkite",
    "steps:\n  - run: make\n    plugins: [docker]\n",
    "3:5: `plugins` is not a key of a step. Plugins are not supported: write the commands in `run`",
  ],
  [
    "Buildkite",
    "steps:\n  - run: make\n  - block: Deploy?\n",
    "3:5: `block` is not a key of a step. A step cannot wait for people: write `jobs`, and put the later steps in a job with a `gate`",
  ],
  ["a command as a step", "steps:\n  - npm ci\n", "2:5: A step is a mapping: write `- run: ` before the command"],
  ["Buildkite", "steps:\n  - run: make\n  - wait\n", "3:5: Steps run one after the other: leave `wait` out"],
  [
    "CircleCI",
    "steps:\n  - checkout\n  - run: make\n",
    "2:5: The checkout comes before the first step: leave this one out",
  ],
  [
    "a list of commands",
    "steps:\n  - run: [npm ci, npm test]\n",
    "2:10: This must be text: write `run: |` and the commands below it, one a line",
  ],
  [
    "a list of commands",
    "steps:\n  - run:\n      - npm ci\n      - npm test\n",
    "3:7: This must be text: write `run: |` and the commands below it, one a line",
  ],
  [
    "GitHub",
    'steps:\n  - run: "echo ${{ matrix.os }}"\n',
    "2:20: There is no context `matrix`. Only a job has a matrix: write `jobs`",
  ],
  [
    "GitHub",
    'steps:\n  - run: "echo ${{ inputs.name }}"\n',
    "2:20: There is no context `inputs`. Set `envVariables` in the request that triggers the build: they become variables, `env.NAME`",
  ],
  [
    "GitHub",
    'steps:\n  - run: "echo ${{ needs.a.outputs.b }}"\n',
    "2:20: There is no context `needs`. Only a job needs others: write `jobs`. Outputs of earlier steps are `steps.ID.outputs.NAME`",
  ],
  [
    "GitHub",
    "steps:\n  - run: \"echo ${{ hashFiles('a') }}\"\n",
    "2:20: There is no function `hashFiles`: compute the hash in a step, and read it with `steps.ID.outputs.NAME`",
  ],
  [
    "GitHub",
    'steps:\n  - run: "echo ${{ github.actor }}"\n',
    "2:20: There is no context `github`. Use the contexts `build`, `repository` and `agent`",
  ],
  [
    "GitHub",
    'steps:\n  - run: "echo ${{ github.sha }}"\n',
    "2:20: There is no context `github`. Did you mean `build.commit`?",
  ],
  [
    "GitHub",
    'steps:\n  - run: "echo ${{ runner.temp }}"\n',
    "2:20: There is no context `runner`. Use the context `agent`",
  ],
  [
    "GitHub",
    'steps:\n  - run: "echo a=b >> $GITHUB_OUTPUT"\n',
    '2:23: This does not set an output here: write `NAME=value` to "$MILLRACE_OUTPUT"',
  ],
  [
    "GitHub",
    'steps:\n  - run: "echo a=b >> \\"$GITHUB_ENV\\""\n',
    '2:25: This does not set a variable for later steps here: write `NAME=value` to "$MILLRACE_ENV"',
  ],
  [
    "GitHub",
    'steps:\n  - run: "echo /x >> ${GITHUB_PATH}"\n',
    '2:22: This does not change the path of later steps here: write the folder to "$MILLRACE_PATH"',
  ],
  [
    "GitHub",
    "steps:\n  - run: \"echo '## x' | tee -a $GITHUB_STEP_SUMMARY\"\n",
    '2:32: This does not write the summary here: write it to "$MILLRACE_SUMMARY"',
  ],
  [
    "GitHub",
    'steps:\n  - run: "echo ::set-output name=a::b"\n',
    '2:16: This sets nothing here: write `NAME=value` to "$MILLRACE_OUTPUT"',
  ],
  [
    "Azure",
    "steps:\n  - run: \"echo '##vso[task.setvariable variable=a]b'\"\n",
    '2:17: This sets nothing here: write `NAME=value` to "$MILLRACE_OUTPUT" or "$MILLRACE_ENV"',
  ],
  [
    "Buildkite",
    'steps:\n  - run: "buildkite-agent meta-data set a b"\n',
    '2:11: This is another system\'s agent: write `NAME=value` to "$MILLRACE_OUTPUT"',
  ],
  ["words for operators", "steps:\n  - run: make\n    if: a and not b\n", "3:11: Write `&&`"],
  ["words for operators", "steps:\n  - run: make\n    if: not a\n", "3:9: Write `!`"],
  ["words for operators", "steps:\n  - run: make\n    if: branch = main\n", "3:16: Write `==` to compare"],
  [
    "GitLab",
    "steps:\n  - run: make\n    if: $CI_COMMIT_BRANCH == 'main'\n",
    "3:9: Write the name without `$`; branch and commit are `build.branch` and `build.commit`",
  ],
  [
    "GitLab",
    "steps:\n  - run: make\n    if: build.branch =~ '^rel'\n",
    "3:22: There are no regular expressions: use startsWith(), endsWith() or contains()",
  ],
  [
    "words",
    "steps:\n  - run: make\n    if: eq(build.branch, 'main')\n",
    "3:9: There is no function `eq`: write `a == b`",
  ],
  [
    "a property",
    'steps:\n  - run: "echo ${{ build.sha }}"\n',
    "2:26: This context has no such property. Did you mean `build.commit`?",
  ],
  [
    "a property",
    "steps:\n  - run: make\n    if: steps.a.result == 'success'\n",
    "3:15: There is no earlier step with this id",
    "3:17: A step has no such property. Did you mean `outcome`?",
  ],
  ["a tab", "steps:\n\t- run: make\n", "2:1: Indent with spaces, not tabs"],
  [
    "GitHub",
    "runs-on: ubuntu-latest\nsteps:\n  - run: make\n",
    "1:1: `runs-on` is not a key of a pipeline file. Write what the agent must have in `requires`, for example `requires: { platform: linux }`",
  ],
  [
    "Woodpecker",
    "steps:\n  build:\n    image: node\n    commands:\n      - npm ci\nwhen:\n  event: push\n",
    "2:3: This must be a list, with `- ` before each item",
    "3:5: `image` is not a key of a step. Write what the agent must have in `requires`, for example `requires: { platform: linux }`",
    "4:5: `commands` is not a key of a step. Write the commands in `run`, one a line after `run: |`",
    "6:1: `when` is not a key of a pipeline file. Write `on`, for example `on: { push: { branches: [main] }, pull: true }`",
  ],
  [
    "Drone",
    "kind: pipeline\nsteps:\n  - name: build\n    image: node\n    commands: [npm ci]\n",
    "1:1: `kind` is not a key of a pipeline file. This does not exist here: remove it",
    "4:5: `image` is not a key of a step. Write what the agent must have in `requires`, for example `requires: { platform: linux }`",
    "5:5: `commands` is not a key of a step. Write the commands in `run`, one a line after `run: |`",
  ],
  [
    "GitHub, a whole workflow",
    'name: CI\non: [push]\npermissions: { contents: read }\njobs:\n  test:\n    runs-on: ubuntu-latest\n    needs: lint\n    strategy:\n      matrix: { node: [20, 22] }\n    services: { db: { image: postgres } }\n    steps:\n      - uses: actions/checkout@v4\n      - uses: actions/setup-node@v4\n        with: { node-version: "${{ matrix.node }}" }\n      - run: npm test -- ${{ matrix.node }}\n        shel: bash\n      - run: echo a=b >> $GITHUB_OUTPUT\n',
    "2:5: This must be a mapping, with `key: value` on each line",
    "3:1: `permissions` is not a key of a file with several jobs. Builds get no token of the service: remove this key",
    "6:5: `runs-on` is not a key of a job. Write what the agent must have in `requires`, for example `requires: { platform: linux }`",
    "7:12: Write a list such as `needs: [build]`, or `needs: [{ job: build, optional: true }]`",
    "8:5: `strategy` is not a key of a job. Write `matrix`, `max-parallel` and `fail-fast` in the job itself",
    "10:5: `services` is not a key of a job. This is not supported yet: start services in a step",
    "12:9: `uses` is not a key of a step. Actions are not supported: write the commands in `run`. The checkout comes before the first step",
    "13:9: `uses` is not a key of a step. Actions are not supported: write the commands in `run`. The checkout comes before the first step",
    "14:9: `with` is not a key of a step. `with` belongs to actions: pass values to the script with `env`",
    "15:37: This job has no matrix",
    "16:9: `shel` is not a key of a step. Did you mean `shell`?",
    '17:26: This does not set an output here: write `NAME=value` to "$MILLRACE_OUTPUT"',
  ],
  [
    "CircleCI",
    "version: 2.1\njobs:\n  build:\n    docker: [{ image: node }]\n    steps:\n      - checkout\n      - run: npm ci\n      - save_cache: { key: a }\n",
    "1:1: `version` is not a key of a file with several jobs. This does not exist here: remove it, and write commands in `steps`",
    "4:5: `docker` is not a key of a job. Steps run on the agent itself: write what it must have in `requires`",
    "6:9: The checkout comes before the first step: leave this one out",
    "8:9: `save_cache` is not a key of a step. Write `cache: [{ name: npm, files: package-lock.json, path: ~/.npm }]` beside `steps`",
  ],
  [
    "Azure",
    "pool: { vmImage: ubuntu-latest }\njobs:\n  - job: a\n    steps:\n      - script: npm ci\n        displayName: x\n",
    "1:1: `pool` is not a key of a file with several jobs. Write what the agent must have in `requires`, for example `requires: { platform: linux }`",
    "3:3: Write a mapping: the name of each job, and its keys below the name",
    "3:5: `job` is not a key of a job. Jobs are written below `jobs` at the top of the file, each by its name",
    "5:9: `script` is not a key of a step. Write the script in `run`",
    "6:9: `displayName` is not a key of a step. Write `name`",
  ],
  [
    "Codemagic",
    "workflows:\n  beta:\n    instance_type: mac_mini_m2\n    max_build_duration: 30\n    environment: { xcode: 26.1 }\n    triggering: { events: [push] }\n    scripts: [{ name: Test, script: make }]\n    publishing: { x: y }\n",
    "1:1: `workflows` is not a key of a pipeline file. Write the jobs below `jobs`, each with its `steps`, and with `needs` for the jobs that it waits for",
    "3:5: `instance_type` is not a key of a job. Write `requires: { platform: macos }`, or `linux`",
    "4:5: `max_build_duration` is not a key of a job. Write `timeout-minutes`",
    "5:5: `environment` is not a key of a job. Write `gate` for a person's approval, `groups` for protected variables, `env` for variables, or `tools` for versions",
    "6:5: `triggering` is not a key of a job. Write `on` at the top of the file: it says when the file is built",
    "7:5: `scripts` is not a key of a job. Write `steps`, each with its `run`",
    "8:5: `publishing` is not a key of a job. Publish in a step, with a tool such as fastlane, and keys from `secrets`",
  ],
  [
    "Bitrise",
    'format_version: "13"\ntrigger_map: [{ push_branch: main }]\napp: { envs: [{ A: b }] }\nworkflows:\n  build:\n    before_run: [setup]\n    steps:\n      - git-clone@8: {}\n      - script@1: { run_if: x }\n',
    "1:1: `format_version` is not a key of a pipeline file. This does not exist here: remove it",
    "2:1: `trigger_map` is not a key of a pipeline file. Write `on`, for example `on: { push: { branches: [main] }, pull: true }`",
    "3:1: `app` is not a key of a pipeline file. Write `env`, for example `env: { SCHEME: Demo }`",
    "4:1: `workflows` is not a key of a pipeline file. Write the jobs below `jobs`, each with its `steps`, and with `needs` for the jobs that it waits for",
    "6:5: `before_run` is not a key of a job. Write `- include: ./ci/FILE.yml` as the first step, or `needs` if it is a job of its own",
    "8:9: This is not a key of a step. Library steps are not supported: write the commands in `run`",
    "9:9: This is not a key of a step. Library steps are not supported: write the commands in `run`",
  ],
  [
    "Codemagic",
    "steps:\n  - run: make\n    ignore_failure: true\n    test_report: out.xml\n",
    "3:5: `ignore_failure` is not a key of a step. Write `continue-on-error: true`",
    "4:5: `test_report` is not a key of a step. Write `reports: { junit: build/reports/*.xml }` beside `steps`",
  ],
  [
    "Bitrise",
    "steps:\n  - run: make\n    run_if: a\n    is_always_run: true\n    is_skippable: true\n",
    "3:5: `run_if` is not a key of a step. Write a condition in `if`, for example `if: build.branch == 'main'`",
    "4:5: `is_always_run` is not a key of a step. Write `if: always()`",
    "5:5: `is_skippable` is not a key of a step. Write `continue-on-error: true`",
  ],
  [
    "Buildkite",
    "agents: { queue: mac }\nsteps:\n  - label: test\n    command: npm test\n    timeout_in_minutes: 5\n  - wait\n  - trigger: other\n",
    "1:1: `agents` is not a key of a pipeline file. Write what the agent must have in `requires`, for example `requires: { platform: linux }`",
    "3:5: `label` is not a key of a step. Write `name`",
    "4:5: `command` is not a key of a step. Write the script in `run`",
    "5:5: `timeout_in_minutes` is not a key of a step. Write `timeout-minutes`",
    "6:5: Steps run one after the other: leave `wait` out",
    "7:5: `trigger` is not a key of a step. A step cannot start another pipeline: call the API in `run`",
  ],
];

describe("a file with another system's syntax", () => {
  it.each(TYPED)("gets advice: %s: %j", (_, file, ...mistakes) => {
    expect(told(file)).toEqual(mistakes);
    expect(mistakes.length).toBeGreaterThan(0);
  });
});

describe("a file of this system", () => {
  it("may give its variables names that are keys elsewhere", () => {
    const env = "{ stage: prod, script: build.sh, steps: all, trigger: x, jobs: 4, matrix: y }";
    expect(told(`env: ${env}\nsteps:\n  - { run: make, env: ${env} }\n`)).toEqual([]);
  });
});

describe("a script that talks to another system", () => {
  it.each([
    'echo a=b >> "$GITHUB_OUTPUT"',
    "echo a=b >> ${GITHUB_ENV}",
    'open(os.environ["GITHUB_OUTPUT"], "a")',
    "fs.appendFileSync(process.env.GITHUB_OUTPUT, x)",
    "'a=b' >> $env:GITHUB_OUTPUT",
    "echo ::set-env name=a::b",
    "echo '##vso[task.setsecret]x'",
    "buildkite-agent redactor add x",
  ])("is rejected: %s", (script) => {
    expect(told(run(script))).toHaveLength(1);
  });

  it.each([
    "# echo a=b >> $GITHUB_OUTPUT",
    "echo ${GITHUB_OUTPUT:-nothing}",
    "echo $GITHUB_OUTPUTS $GITHUB_SHA",
    "echo ::group::Build ::error::x",
    'echo "::add-mask::$TOKEN"',
    "./buildkite-agent-setup.sh",
    "echo a=b >> $MILLRACE_OUTPUT",
  ])("is not recognized in: %s", (script) => {
    expect(told(run(script))).toEqual([]);
  });

  it("may use a variable with that name that the file sets", () => {
    expect(told(run("echo a=b >> $GITHUB_OUTPUT", "env: { GITHUB_OUTPUT: out }\n"))).toEqual([]);
    expect(
      told("steps:\n  - { run: echo $GITHUB_ENV, env: { GITHUB_ENV: out } }\n  - run: echo $GITHUB_ENV\n"),
    ).toEqual([expect.stringMatching(/^3:15: /)]);
  });

  it("is scanned once, however many idioms a line has", () => {
    expect(idiomsIn("::set-env ".repeat(20_000))).toHaveLength(200);
  });
});

describe("a hint", () => {
  const hints = (file: string) => parseFile(file).hints?.map((hint) => formatMistake("f", hint).slice(2)) ?? null;

  it.each([
    ["cmake -S . ${{ vars.CMAKE_FLAGS }}", 1],
    ["cmake -S . ${{ env['BUILD_ARGS'] }}", 1],
    ["cmake ${{ vars.X && '-A Win32' }}", 1],
    ["cmake ${{ vars.X || '' }}", 1],
    ['cmake "${{ vars.CMAKE_FLAGS }}"', 0],
    ["FLAGS=${{ vars.CMAKE_FLAGS }}", 0],
    ["cmake ${{ vars.TARGET }} ${{ vars.X || 'release' }}", 0],
  ])("says that an expression outside quotes is one word: %s", (script, count) => {
    expect(hints(run(script))).toHaveLength(count);
  });

  it("does not appear together with a mistake", () => {
    expect(hints(run("make ${{ vars.ARGS - }}"))).toBeNull();
    expect(told(run("make ${{ nope.ARGS }}"))).toHaveLength(1);
  });
});

/** Keys as other systems write them at the top of a file, in a job and in a step. */
const KEYS: Record<string, { file?: string; job?: string; step?: string }> = {
  Azure: {
    file: "resources lockBehavior appendCommitMessageToRunName",
    step: "task inputs publish download parameters retryCountOnTaskFailure failOnStderr enabled",
  },
  Bitrise: { file: "containers", job: "priority" },
  Buildkite: {
    file: "priority",
    step: "if_changed priority cancel_on_build_failing signature fields prompt async continue_on_failure",
  },
  CircleCI: {
    file: "setup",
    job: "machine macos resource_class executor circleci_ip_ranges",
    step: "store_test_results",
  },
  Drone: { file: "kind type node image_pull_secrets volumes", step: "pull network_mode" },
  GitLab: { job: "trigger start_in hooks identity manual_confirmation publish dast_configuration" },
  Travis: {
    file: "language dist sudo node_js python jdk rvm go php compiler osx_image addons before_install install after_success after_failure before_deploy deploy after_deploy",
  },
};
const KEY_ROWS = Object.entries(KEYS).flatMap(([from, { file = "", job = "", step = "" }]) => [
  ...file.split(" ").map((key) => [from, key, `${key}: x\nsteps: [{ run: a }]\n`] as const),
  ...job.split(" ").map((key) => [from, key, `jobs: { a: { ${key}: x, steps: [{ run: a }] } }\n`] as const),
  ...step.split(" ").map((key) => [from, key, `steps: [{ run: a, ${key}: x }]\n`] as const),
]);

it.each(KEY_ROWS.filter(([, key]) => key !== ""))("a file from %s gets advice for the key %s", (_, key, file) => {
  const [first, ...others] = told(file);
  expect(others).toEqual([]);
  expect(first).toContain(`\`${key}\` is not a key of `);
  expect(first).not.toContain("The keys are");
});

it("a `trigger` next to jobs counts as the events that trigger a file", () => {
  expect(told("trigger: [main]\njobs: { a: { steps: [{ run: a }] } }\n")[0]).toContain("Write `on`");
});

it("a job counts as a job even if its name is a key of Travis", () => {
  expect(told("deploy: { stage: deploy, script: [make] }\n")[0]).toContain("Write the jobs below `jobs`");
});
