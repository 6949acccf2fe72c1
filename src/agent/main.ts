import { join, resolve } from "node:path";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { VERSION } from "../protocol/version.ts";
import { runAgent } from "./agent-loop.ts";
import { RUN_AS_WORK } from "./build-folder.ts";
import { acknowledgements } from "./cli/acknowledgements.ts";
import { EXIT, ExitError } from "./cli/exit-codes.ts";
import { defaultStateFolder } from "./cli/identity.ts";
import { serviceFile, writeServiceFile } from "./cli/install.ts";
import { mustNotRestart } from "./cli/launchd.ts";
import { checkFile, runFile } from "./cli/local-run.ts";
import { logger } from "./cli/logger.ts";
import { deregister, register } from "./cli/register.ts";
import { status } from "./cli/status.ts";
import { findStepUser } from "./process/step-user.ts";

const EXIT_CODES = `
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not registered or refused by the service, 4 another agent has this
state folder, work folder or user, 5 the service cannot be reached, 130 interrupted. "run" ends with the exit code of
the step that failed.`;

const print = (lines: string[]): void => {
  process.stdout.write(`${lines.join("\n")}\n`);
};

const labelList = (text: string): string[] =>
  text
    .split(",")
    .map((label) => label.trim())
    .filter(Boolean);

const seconds = (text: string): number => {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError("It must be a whole number of seconds.");
  return Number(text);
};

const variable = (text: string, before: Record<string, string>): Record<string, string> => {
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("It must have the form NAME=value.");
  return { ...before, [name]: value };
};

/** The first SIGTERM or SIGINT lets the build under way finish, the second one stops it. */
const listenToSignals = (): { drain: AbortSignal; interrupt: AbortSignal } => {
  const drain = new AbortController();
  const interrupt = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (drain.signal.aborted) {
      logger.warn(`${name} again: stopping the build`);
      interrupt.abort(new ExitError("interrupted", EXIT.interrupted));
    } else {
      logger.info(`${name}: a build under way is finished first; once more stops it`);
      drain.abort(new ExitError("stopped", EXIT.done));
    }
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return { drain: drain.signal, interrupt: interrupt.signal };
};

const program = new Command("millrace-agent")
  .description("Takes builds from a Millrace service and runs them on this machine.")
  .version(VERSION)
  .addHelpText("after", EXIT_CODES)
  .exitOverride();

const command = (name: string, description: string): Command =>
  program
    .command(name)
    .description(description)
    .exitOverride()
    .option("--state <dir>", "folder that holds who this agent is", defaultStateFolder());

command("register", "make this machine an agent of a service")
  .requiredOption("--url <address>", "address of the service")
  .requiredOption(
    "--token-file <file>",
    "file with the registration token, closed to others (0600); - reads standard input",
  )
  .requiredOption("--name <name>", "name that people see")
  .option("--labels <list>", "labels that builds can ask for, with commas between", labelList, [])
  .option("--ephemeral", "take one build, then be gone", false)
  .option("--ios", "can build for iOS (found out when left out)")
  .option("--no-ios", "cannot")
  .option("--android", "can build for Android (found out when left out)")
  .option("--no-android", "cannot")
  .option("--web", "can build for the web (found out when left out)")
  .option("--no-web", "cannot")
  .action(async (options) => {
    const identity = await register({
      state: resolve(options.state),
      url: options.url,
      tokenFile: options.tokenFile,
      name: options.name,
      labels: options.labels,
      isEphemeral: options.ephemeral,
      canBuildIOS: options.ios,
      canBuildAndroid: options.android,
      canBuildWeb: options.web,
    });
    print([`${identity.name} is registered as ${identity.id} in ${identity.orgId}; start it with: start`]);
  });

command("start", "take builds until told to stop")
  .option("--once", "take one build, then end", false)
  .option("--run-as <user>", "user that steps run as (the agent must be root)")
  .option(
    "--work <dir>",
    "folder in which builds get theirs (default: work in the state folder; with --run-as /var/lib/millrace-work/USER)",
  )
  .option("--grace <seconds>", "time between SIGTERM and SIGKILL of a step", seconds, 10)
  .action(async (options) => {
    const state = resolve(options.state);
    const user = options.runAs === undefined ? null : findStepUser(options.runAs);
    if (process.platform === "win32") throw new ExitError("the agent runs on macOS and Linux", EXIT.usage);
    if (!user)
      logger.info("steps run as the agent's own user, one trust domain with it: --run-as USER keeps them apart");
    const work = resolve(options.work ?? (user ? join(RUN_AS_WORK, user.name) : join(state, "work")));
    await runAgent({ state, work, once: options.once, user, grace: options.grace * 1000, ...listenToSignals() });
  });

command("status", "who this agent is and how the service sees it").action(async ({ state }) => {
  print(await status(resolve(state)));
});

command("deregister", "remove this agent from the service")
  .option("--local", "only forget it here: the service does not know it any more", false)
  .action(async ({ state, local }) => {
    await deregister(resolve(state), local);
    print(["deregistered"]);
  });

program
  .command("install")
  .description("show the service file that starts the agent with the machine, and what to run")
  .exitOverride()
  .option("--state <dir>", "folder that holds who this agent is (default: where the user of the agent has it)")
  .option("--user <user>", "a service of the system that runs the agent as this user (Linux)")
  .option("--run-as <user>", "user that steps run as (the agent must be root)")
  .option("--work <dir>", "folder in which builds get theirs")
  .option("--grace <seconds>", "time between SIGTERM and SIGKILL of a step", seconds)
  .option("--service <name>", "name of the service, where a machine has several agents")
  .option("--write", "write the file where it belongs", false)
  .action(async (options) => {
    const { state = null, user = null, runAs = null, work = null, grace = null, service = null } = options;
    const file = serviceFile({ state, user, runAs, work, grace, service }, resolve(process.argv[1] ?? ""));
    if (process.getuid?.() === 0 && user === null && runAs === null)
      logger.warn("the agent and its steps will run as root: --user USER or --run-as USER prevents that");
    if (options.write) writeServiceFile(file);
    else print([file.text]);
    process.stderr.write(`${options.write ? "Written to" : "Put this into"} ${file.path}, then run:\n`);
    process.stderr.write(file.nextCommands.map((line) => `  ${line}\n`).join(""));
  });

program
  .command("check")
  .description("find every mistake in a pipeline file")
  .argument("<file>")
  .action((file: string) => {
    process.exitCode = checkFile(file);
  });

program
  .command("run")
  .description("run a pipeline file here and now, in this folder, without the service")
  .argument("<file>")
  .option("--env <NAME=value>", "a variable of the run; may be given more than once", variable, {})
  .option("--grace <seconds>", "time between SIGTERM and SIGKILL of a step", seconds, 10)
  .action(async (file: string, options) => {
    const stop = new AbortController();
    for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, () => stop.abort());
    process.exitCode = await runFile(file, { env: options.env, grace: options.grace * 1000, signal: stop.signal });
  });

program
  .command("acknowledgements")
  .description("print the licences of what this program is made with")
  .action(() => print([acknowledgements()]));

const end = (code: number): void => {
  if (mustNotRestart(code))
    logger.warn(`ends with 0 instead of ${code}, so that launchd does not start it again; launchctl kickstart does`);
  process.exitCode = mustNotRestart(code) ? EXIT.done : code;
};

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) end(error.exitCode === 0 ? EXIT.done : EXIT.usage);
  else if (error instanceof ExitError) {
    if (error.exitCode !== EXIT.done) logger.error(error.message);
    end(error.exitCode);
  } else {
    logger.error(error instanceof Error ? error.message : "unknown error");
    end(EXIT.failed);
  }
}
