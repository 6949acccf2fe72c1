/*
 * Keys of GitHub Actions, GitLab, Woodpecker, Drone, Buildkite, CircleCI, Azure Pipelines, Travis, Codemagic and
 * Bitrise, with their equivalents here. Keys with the same advice share a row.
 */
type Rows = [keys: string, advice: string][];

const table = (...rows: Rows): Map<string, string> =>
  new Map(rows.flatMap(([keys, advice]) => keys.split(" ").map((key) => [key, advice] as const)));

export const WRITE_JOBS =
  "Write the jobs below `jobs`, each with its `steps`, and with `needs` for the jobs that it waits for";
const FROM_JOBS = "Write `jobs`: a job can download artifacts of earlier jobs";
const IN_A_JOB = "Write `jobs`: this is for a job, beside its `steps`";
const LATER = "This is not supported yet";
const RETRY = "Write `retry: 1` or `retry: 2`";
const REQUIRES = "Write what the agent must have in `requires`, for example `requires: { platform: linux }`";
const ON = "Write `on`, for example `on: { push: { branches: [main] }, pull: true }`";
const OF_AN_AGENT = "Steps run on the agent itself, as its user: leave it out";
const NOTHING = "This does not exist here: remove it";
const CALL_THE_API = "call the API in `run`";
const WRITE_ARTIFACTS = "Write `artifacts: [{ name: app, path: build/*.ipa }]` beside `steps`";
const WRITE_DOWNLOADS = "Write `downloads: [{ from: JOB, artifact: NAME, to: FOLDER }]` in a job";
const WRITE_REPORTS = "Write `reports: { junit: build/reports/*.xml }` beside `steps`";
const INCLUDE = "Write `- include: ./ci/FILE.yml` in a list of steps, with its `steps` in that file";

/** Keys that get the same advice at the top of a file and in a step. */
const ANYWHERE: Rows = [
  [
    "cache save_cache restore_cache",
    "Write `cache: [{ name: npm, files: package-lock.json, path: ~/.npm }]` beside `steps`",
  ],
  ["artifacts artifact artifact_paths store_artifacts persist_to_workspace", WRITE_ARTIFACTS],
  ["attach_workspace", WRITE_DOWNLOADS],
  ["reports test_report store_test_results", WRITE_REPORTS],
  ["release pages", "This does not exist here yet: do it in a step"],
  ["matrix strategy parallel parallelism axes", "Write `jobs`: a job may have a `matrix`"],
  ["id-token host-token", LATER],
  ["variables environment", "Write `env`"],
  ["secrets", "Secrets are stored in the service: write `${{ secrets.NAME }}` in `env`"],
  ["services", "Steps run on the agent itself: start services in a step"],
  ["container containers docker", "Steps run on the agent itself: write what it must have in `requires`"],
  ["image runs-on runs_on agents pool os vm project_type machine resource_class executor", REQUIRES],
  ["instance_type macos", "Write `requires: { platform: macos }`, or `linux`"],
  ["stack machine_type_id", REQUIRES],
  ["retry retries", "Write `retry` in the step that may fail, for example `retry: 2`"],
  ["timeout timeout_in_minutes timeoutInMinutes", "Write `timeout-minutes`"],
  ["permissions id_tokens", "Builds get no token of the service: remove this key"],
  [
    "concurrency concurrency_group resource_group",
    "Write `jobs`: a job may have `concurrency`; `supersede` ends older builds",
  ],
  ["extends include template templates", INCLUDE],
  ["notify notifications", "There are no notifications here yet: write a last step with `if: always()`"],
  ["before_script", "Write the commands as the first step, or at the beginning of `run`"],
  ["after_script", "Write the commands as a last step with `if: always()`"],
  ["interruptible", "Write `supersede` at the top of the file"],
  ["envs app", "Write `env`, for example `env: { SCHEME: Demo }`"],
  ["max_build_duration", "Write `timeout-minutes`"],
  ["publishing integrations", "Publish in a step, with a tool such as fastlane, and keys from `secrets`"],
  ["scripts", "Write `steps`, each with its `run`"],
  ["inherit coverage priority", NOTHING],
];

/** Keys at the top of a file, or of a job in a file. */
export const FILE_KEY_ADVICE = table(
  ...ANYWHERE,
  ["jobs job stages stage workflows pipeline", WRITE_JOBS],
  ["trigger triggers triggering trigger_map pr push pull pull_request when rules only except workflow branches", ON],
  ["schedules cron", "Write `schedule: [{ name: nightly, cron: 0 2 * * * }]`"],
  ["uses with", "Workflows and actions are not supported: write the commands as `steps`, each with its `run`"],
  ["script run commands command", "Write the commands as `steps`, each with its `run`"],
  ["needs depends_on dependencies dependsOn", "Steps run in the order written. Jobs wait for others: write `jobs`"],
  ["if condition", "A build has no condition: write `if` in its steps, or in its `jobs`"],
  ["continue-on-error allow_failure soft_fail", "Write `continue-on-error` in the step that may fail"],
  ["outputs", "Write outputs to `$MILLRACE_OUTPUT` in the script"],
  ["inputs parameters spec", "Set `envVariables` in the request that triggers the build: they become variables"],
  ["default", "Write `defaults`"],
  ["version orbs executors executor", "This does not exist here: remove it, and write commands in `steps`"],
  [
    "format_version meta default_step_lib_source title summary description setup kind type image_pull_secrets resources lockBehavior appendCommitMessageToRunName",
    NOTHING,
  ],
  ["volumes", OF_AN_AGENT],
  ["pipelines", WRITE_JOBS],
  [
    "definitions step_bundles",
    "Write what jobs share in `defaults` and `env`, or in a file: `- include: ./ci/FILE.yml`",
  ],
  ["clone skip_clone git", "Write `checkout`"],
  [
    "tags labels platform",
    "Write what the agent must have in `requires`, for example `requires: { labels: [docker] }`",
  ],
  ["workspace", "Steps run in the checkout: remove this key"],
  ["retries", RETRY],
);

/** Returns the advice for a key in a job itself. Only the top of a file with `jobs` has triggers. */
export const jobKeyAdvice = (key: string): string | undefined =>
  key === "trigger" ? `A job cannot start another pipeline: ${CALL_THE_API}` : JOB_KEY_ADVICE.get(key);

/** Keys at the top of a file, except those that are job names elsewhere: Travis and Drone. */
export const WORD_ADVICE = table(
  ["language node_js python jdk rvm go php compiler", "Write `tools`, for example `tools: { node: 24 }`"],
  ["osx_image", "Write `requires: { platform: macos }` and `tools: { xcode: 26.1 }`"],
  ["dist node", REQUIRES],
  ["sudo addons", "Steps run on the agent itself, as its user: install what they need in a step"],
  ["before_install install", "Write the commands as the first step, or at the beginning of `run`"],
  ["after_success", "Write the commands as a last step"],
  ["after_failure", "Write the commands as a last step with `if: failure()`"],
  ["before_deploy deploy after_deploy", "Write the commands as a last step, with `if: build.branch == 'main'`"],
);

/** Keys of a job that other systems write next to steps. */
export const BESIDE_STEPS_ADVICE = table(
  ["gate concurrency outputs matrix max-parallel fail-fast needs", IN_A_JOB],
  ["downloads", FROM_JOBS],
);

/** Keys of a job below `jobs`. A later row for the same key wins. */
export const JOB_KEY_ADVICE = table(
  ...ANYWHERE,
  ["strategy", "Write `matrix`, `max-parallel` and `fail-fast` in the job itself"],
  ["parallel parallelism axes", "Write `matrix`"],
  ["depends_on dependencies dependsOn upstream", "Write `needs`, a list of the jobs to wait for"],
  ["stage stages", "There are no stages: write `needs`, a list of the jobs to wait for"],
  ["jobs job workflows", "Jobs are written below `jobs` at the top of the file, each by its name"],
  ["before_run", "Write `- include: ./ci/FILE.yml` as the first step, or `needs` if it is a job of its own"],
  ["after_run", "Write a job that `needs` this one, or `- include: ./ci/FILE.yml` as the last step"],
  ["depends_on_workflows", "Write `needs`, a list of the jobs to wait for"],
  [
    "summary description meta status_report_name start_in hooks identity publish dast_configuration circleci_ip_ranges",
    NOTHING,
  ],
  ["working_directory", "Write `defaults: { run: { working-directory: FOLDER } }`"],
  ["id key identifier label displayName title", "A job is called by its name below `jobs`; `name` is what people see"],
  ["when rules only except branches condition run_if", "Write `if`, for example `if: build.branch == 'main'`"],
  ["on triggers triggering", "Write `on` at the top of the file: it says when the file is built"],
  ["allow_failure allow-failure soft_fail failure ignore_errors", "Write `continue-on-error: true`"],
  [
    "environment",
    "Write `gate` for a person's approval, `groups` for protected variables, `env` for variables, or `tools` for versions",
  ],
  [
    "approval block manual manual_confirmation type",
    "Write `gate: { message: ... }`: the job waits until a person approves it",
  ],
  ["concurrency_group resource_group serial serial_groups", "Write `concurrency: { group: NAME }`"],
  ["max_parallel maxParallel", "Write `max-parallel`"],
  ["default", "Write `defaults`"],
  ["clone skip_clone git", "Write `checkout`"],
  ["script run commands command", "Write the commands as `steps`, each with its `run`"],
  ["uses with", "Workflows and actions are not supported: write the commands as `steps`, each with its `run`"],
  [
    "tags labels platform",
    "Write what the agent must have in `requires`, for example `requires: { labels: [docker] }`",
  ],
  ["working-directory shell", "Write it in a step, or below `defaults.run`"],
  ["id-token host-token", LATER],
  ["inputs", "Write `with` where a file is included: inputs are those of an included file"],
  ["services", `${LATER}: start services in a step`],
  ["retries", RETRY],
);

/** Keys of a step. */
const STEP_KEY_ADVICE = table(
  ...ANYWHERE,
  ["uses", "Actions are not supported: write the commands in `run`. The checkout comes before the first step"],
  ["with", "`with` belongs to actions: pass values to the script with `env`"],
  ["plugins settings", "Plugins are not supported: write the commands in `run`"],
  ["script command bash sh cmd", "Write the script in `run`"],
  ["powershell pwsh", "Write the script in `run`, with `shell: pwsh`"],
  ["commands", "Write the commands in `run`, one a line after `run: |`"],
  ["entrypoint args", "Write the whole command in `run`"],
  ["label displayName title", "Write `name`"],
  ["run_if", "Write a condition in `if`, for example `if: build.branch == 'main'`"],
  ["is_always_run", "Write `if: always()`"],
  ["is_skippable ignore_failure", "Write `continue-on-error: true`"],
  ["no_output_timeout", "Write `timeout-minutes`"],
  ["publish", WRITE_ARTIFACTS],
  ["download", WRITE_DOWNLOADS],
  ["if_changed", "Write a condition in `if`, for example `if: changed('src/**')`"],
  ["cancel_on_build_failing", "Write `jobs`, with `fail-fast: true`"],
  ["continue_on_failure", "Write `if: always()` in the step after it"],
  ["task", "Tasks are not supported: write the commands in `run`"],
  ["inputs parameters", "Pass values to the script with `env`, and to an included file with `with`"],
  ["failOnStderr signature", NOTHING],
  ["key identifier", "Write `id`"],
  [
    "when condition conditions rules only except branches branch",
    "Write a condition in `if`, for example `if: build.branch == 'main'`",
  ],
  [
    "retries attempts max_attempts retryCountOnTaskFailure",
    "Write `retry`, for example `retry: 2`, or `retry: { times: 2, wait-seconds: 10 }`",
  ],
  ["skip enabled", "Write `if: false`"],
  ["allow_failure allow-failure soft_fail failure ignore_errors", "Write `continue-on-error: true`"],
  ["needs depends_on dependencies dependsOn", "Steps run in the order written: this is not needed"],
  ["wait waiter", "Steps run one after the other: this is not needed"],
  [
    "block input fields prompt manual approval",
    "A step cannot wait for people: write `jobs`, and put the later steps in a job with a `gate`",
  ],
  ["trigger build async", `A step cannot start another pipeline: ${CALL_THE_API}`],
  ["group steps", "Steps cannot be grouped: write them one after the other"],
  ["checkout", "The checkout comes before the first step: configure it with `checkout` at the top of the file"],
  ["outputs", "Write outputs to `$MILLRACE_OUTPUT` in the script"],
  ["dir cwd workdir working_dir", "Write `working-directory`"],
  ["detach background", "Write `&` after the command in the script"],
  ["user privileged tty volumes pull network_mode", OF_AN_AGENT],
  ["stage tags", "A step has none of these: leave it out, and write what the agent must have in `requires`"],
);

/** A library's step, as in Bitrise: `script@1`, `git::https://...`. */
const LIBRARY_STEP = /^(?:[\w.-]+@[\d.]*|(?:git|path)?::.{1,200})$/;

export const stepKeyAdvice = (key: string): string | undefined =>
  STEP_KEY_ADVICE.get(key) ??
  (LIBRARY_STEP.test(key) ? "Library steps are not supported: write the commands in `run`" : undefined);

/** Single words that other systems accept instead of a step. */
export const STEP_WORD_ADVICE = new Map([
  ["wait", "Steps run one after the other: leave `wait` out"],
  ["waiter", "Steps run one after the other: leave `waiter` out"],
  ["checkout", "The checkout comes before the first step: leave this one out"],
  ["block", "A step cannot wait for people: write `jobs`, and put the later steps in a job with a `gate`"],
]);
