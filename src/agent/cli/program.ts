import { join, resolve } from "node:path";
import { Command } from "commander";
import { SECOND_MS } from "../../protocol/units.ts";
import { VERSION } from "../../protocol/version.ts";
import { runAgent } from "../agent-loop.ts";
import { RUN_AS_WORK } from "../build/build-folder.ts";
import { serveFiles } from "../files/serve.ts";
import { findStepUser } from "../process/step-user.ts";
import { EXIT, ExitError } from "./exit-codes.ts";
import { defaultStateFolder } from "./identity.ts";
import { IMPORT_HELP, importFile } from "./import-workflow.ts";
import { machineWith, serviceFile, variablesToKeep, writeServiceFile } from "./install.ts";
import { checkFile, readLocalFiles, runFile } from "./local-run.ts";
import { logger } from "./logger.ts";
import {
  DEFAULT_TOOL_STORE,
  defaultRegistry,
  gibibytes,
  labelList,
  seconds,
  toolSourcesIn,
  variableOption,
  webAddress,
} from "./option-values.ts";
import { deregister, registerMachine } from "./register.ts";
import { status } from "./status.ts";

declare const ACKNOWLEDGEMENTS: string | undefined;

/** Returns the licences of the program's packages. The bundler replaces ACKNOWLEDGEMENTS. */
const acknowledgements = (): string =>
  typeof ACKNOWLEDGEMENTS === "string"
    ? ACKNOWLEDGEMENTS
    : "This program runs from a checkout: the license of each package is in its folder in node_modules.";

interface StopSignals {
  /** The first SIGTERM or SIGINT aborts this signal. The agent then finishes its active build. */
  drain: AbortSignal;
  /** The second signal aborts this one. The agent then stops the active build. */
  interrupt: AbortSignal;
}

const listenToStopSignals = (): StopSignals => {
  const drain = new AbortController();
  const interrupt = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (drain.signal.aborted) {
      interrupt.abort(new ExitError("interrupted", EXIT.interrupted));
    } else {
      logger.info(`${name}: the agent is stopping`);
      drain.abort(new ExitError("stopped", EXIT.done));
    }
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return { drain: drain.signal, interrupt: interrupt.signal };
};

const EXIT_CODES = `
Exit codes: 0 done, 1 failed, 2 invalid usage, 3 not registered or rejected by the service, 4 another agent uses
this state folder, work folder or user, 5 cannot reach the service, 6 a hook failed or cannot be trusted,
130 interrupted. "run" exits with the failed step's exit code.`;

const GRACE = "seconds between a step's SIGTERM and SIGKILL";
const RUN_AS = "user that steps run as (the agent must be root)";
const STATE = "folder that holds the agent's identity";

const MISE = "path to mise, which sets up `tools` (default on Linux x64: downloaded and verified)";
const CACHE = "maximum GiB for cache copies on this machine; 0 keeps none";
const TOOL_STORE = "maximum GiB for installed tools that later builds reuse";
const REGISTRY = "address of the npm registry to download mise from";

const print = (lines: string[]): void => {
  process.stdout.write(`${lines.join("\n")}\n`);
};

/** The command line: each command with its options and action. */
export const program = new Command("millrace-agent")
  .description("Runs builds from a Millrace service on this machine.")
  .version(VERSION)
  .addHelpText("after", EXIT_CODES)
  .exitOverride();

const command = (name: string, description: string): Command =>
  program.command(name).description(description).exitOverride();

command("register", "register this machine as an agent")
  .option("--state <dir>", STATE, defaultStateFolder())
  .requiredOption("--url <address>", "URL of the service")
  .requiredOption(
    "--token-file <file>",
    "file with the registration token that no other user can read (0600); - reads standard input",
  )
  .requiredOption("--name <name>", "display name")
  .option("--labels <list>", "comma-separated labels that builds can require", labelList)
  .option("--ephemeral", "run one build, then deregister", false)
  .option("--ios", "can build for iOS (default: detected)")
  .option("--no-ios", "cannot build for iOS")
  .option("--android", "can build for Android (default: detected)")
  .option("--no-android", "cannot build for Android")
  .option("--web", "can build for the web (default: detected)")
  .option("--no-web", "cannot build for the web")
  .action(async (options) => {
    const identity = await registerMachine({
      state: resolve(options.state),
      url: options.url,
      tokenFile: options.tokenFile,
      name: options.name,
      labels: options.labels ?? [],
      isEphemeral: options.ephemeral,
      canBuildIOS: options.ios,
      canBuildAndroid: options.android,
      canBuildWeb: options.web,
    });
    print([`${identity.name} is registered as ${identity.id} in ${identity.orgId}; next: run start`]);
  });

command("start", "run builds until stopped")
  .option("--state <dir>", STATE, defaultStateFolder())
  .option("--once", "run one build, then exit", false)
  .option("--run-as <user>", RUN_AS)
  .option(
    "--work <dir>",
    "folder for the builds' folders (default: work in the state folder; with --run-as /var/lib/millrace-work/USER)",
  )
  .option("--cache-gib <number>", CACHE, gibibytes, 10)
  .option("--grace <seconds>", GRACE, seconds, 10)
  .option("--mise <path>", MISE)
  .option("--npm-registry <address>", REGISTRY, webAddress, defaultRegistry())
  .option("--tool-store <GiB>", TOOL_STORE, gibibytes, DEFAULT_TOOL_STORE)
  .action(async (options) => {
    const state = resolve(options.state);
    const user = options.runAs === undefined ? null : findStepUser(options.runAs);
    if (process.platform === "win32") throw new ExitError("the agent runs on macOS and Linux only", EXIT.usage);
    if (!user)
      logger.info("steps run as the agent's own user and share its trust domain: use --run-as USER to separate them");
    const work = resolve(options.work ?? (user ? join(RUN_AS_WORK, user.name) : join(state, "work")));
    const grace = options.grace * SECOND_MS;
    const cacheBytes = options.cacheGib * 2 ** 30;
    const toolSources = toolSourcesIn(state, options);
    await runAgent({ state, cacheBytes, work, once: options.once, user, toolSources, grace, ...listenToStopSignals() });
  });

command("status", "show this agent and its status on the service")
  .option("--state <dir>", STATE, defaultStateFolder())
  .action(async ({ state }) => {
    print(await status(resolve(state)));
  });

command("deregister", "remove this agent from the service")
  .option("--state <dir>", STATE, defaultStateFolder())
  .option("--local", "only remove it from this machine, if the service no longer has it", false)
  .action(async ({ state, local }) => {
    await deregister(resolve(state), local);
    print(["deregistered"]);
  });

command("install", "print a service file that starts the agent at boot, and the commands to run")
  .option("--state <dir>", `${STATE} (default: in the home folder of the user who runs the agent)`)
  .option("--user <user>", "create a system service that runs the agent as this user (Linux)")
  .option("--run-as <user>", RUN_AS)
  .option("--work <dir>", "folder for the builds' folders")
  .option("--grace <seconds>", GRACE, seconds)
  .option("--cache-gib <number>", CACHE, gibibytes)
  .option("--mise <path>", MISE)
  .option("--npm-registry <address>", REGISTRY, webAddress)
  .option("--tool-store <GiB>", TOOL_STORE, gibibytes)
  .option("--service <name>", "service name, for machines with several agents")
  .option("--write", "write the file instead of printing it", false)
  .action(async (options) => {
    const { state = null, user = null, runAs = null, work = null, grace = null, service = null } = options;
    const furtherOptions = [
      ...(options.cacheGib === undefined ? [] : ["--cache-gib", String(options.cacheGib)]),
      ...(options.mise === undefined ? [] : ["--mise", resolve(options.mise)]),
      ...(options.npmRegistry === undefined ? [] : ["--npm-registry", options.npmRegistry]),
      ...(options.toolStore === undefined ? [] : ["--tool-store", String(options.toolStore)]),
    ];
    const { variables, omitted } = variablesToKeep(process.env);
    const serviceOptions = { state, user, runAs, work, grace, furtherOptions, service };
    const file = serviceFile(serviceOptions, resolve(process.argv[1] ?? ""), machineWith(variables));
    if (process.getuid?.() === 0 && user === null && runAs === null)
      logger.warn("the agent and its steps run as root: use --user USER or --run-as USER to prevent that");
    if (options.write) writeServiceFile(file);
    else print([file.text]);
    process.stderr.write(`Variables kept from this shell: ${Object.keys(variables).join(", ")}\n`);
    if (omitted.length > 0) process.stderr.write(`Variables not kept: ${omitted.join(", ")}\n`);
    process.stderr.write(`${options.write ? "Written to" : "Put this into"} ${file.path}, then run:\n`);
    process.stderr.write(file.nextCommands.map((line) => `  ${line}\n`).join(""));
  });

command("check", "find every mistake in a pipeline file")
  .argument("<file>")
  .action((file: string) => {
    process.exitCode = checkFile(file);
  });

command("import", "translate a GitHub Actions workflow to a pipeline file")
  .argument("<file>", "the workflow, for example .github/workflows/ci.yml")
  .option("--output <file>", "write the pipeline file here instead of printing it; the file must not exist")
  .addHelpText("after", IMPORT_HELP)
  .action(async (file: string, { output = null }) => {
    process.exitCode = await importFile(file, output);
  });

command("run", "run a pipeline file in this folder, without the service")
  .argument("<file>")
  .option("--env <NAME=value>", "set a variable; can be repeated", variableOption)
  .option("--file <NAME=path>", "set a variable to a copy of this file; can be repeated", variableOption)
  .option("--job <key>", "run only this job, or all combinations of its matrix")
  .option("--artifacts <dir>", "folder for the jobs' artifacts (default: deleted after the run)")
  .option("--approve", "approve every gate without asking", false)
  .option("--grace <seconds>", GRACE, seconds, 10)
  .option("--mise <path>", MISE)
  .option("--npm-registry <address>", REGISTRY, webAddress, defaultRegistry())
  .action(
    async (file: string, { env = {}, file: files = {}, approve, job = null, artifacts, grace, mise, npmRegistry }) => {
      const [stop, abandon] = [new AbortController(), new AbortController()];
      for (const name of ["SIGTERM", "SIGINT"] as const)
        process.on(name, () => (stop.signal.aborted ? abandon : stop).abort());
      const signals = { signal: stop.signal, abandon: abandon.signal };
      const toolSources = toolSourcesIn(defaultStateFolder(), { mise, npmRegistry, toolStore: 0 });
      process.exitCode = await runFile(file, {
        env,
        files: readLocalFiles(files),
        job,
        approve,
        toolSources,
        keep: artifacts === undefined ? null : resolve(artifacts),
        grace: grace * SECOND_MS,
        ...signals,
      });
    },
  );

program
  .command("files", { hidden: true })
  .description("read or write a build's files, as the agent requests on standard input")
  .argument("[uid]")
  .argument("[gid]")
  .action((uid?: string, gid?: string) =>
    serveFiles(uid === undefined ? null : { uid: Number(uid), gid: Number(gid) }),
  );

command("acknowledgements", "print the licenses of the packages in this program").action(() =>
  print([acknowledgements()]),
);
