import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isUserName } from "../process/step-user.ts";
import { EXIT, ExitError } from "./exit-codes.ts";
import { defaultStateFolder, loadIdentity } from "./identity.ts";
import { launchAgent } from "./launch-agent.ts";
import type { AgentService, ServiceFile } from "./service-file.ts";
import { systemdUnit } from "./systemd-unit.ts";

export interface InstallOptions {
  /** Null: the default state folder of the user that the agent will run as. */
  state: string | null;
  runAs: string | null;
  /** User of a system service; null runs the agent as the user who installs it. */
  user: string | null;
  work: string | null;
  grace: number | null;
  /** Options of `start` that are passed on as they are written. */
  passed: string[];
  service: string | null;
}

/** What decides which service file is made. */
interface Machine {
  platform: string;
  isRoot: boolean;
  home: string;
  /** Variables of the shell that the service keeps. */
  variables: Record<string, string>;
}

export const machineWith = (variables: Record<string, string>): Machine => ({
  platform: process.platform,
  isRoot: process.getuid?.() === 0,
  home: homedir(),
  variables,
});

const usageError = (message: string): ExitError => new ExitError(message, EXIT.usage);

const checkOptions = ({ runAs, user, service }: InstallOptions, { platform, isRoot }: Machine): void => {
  if (runAs !== null && user !== null)
    throw usageError(
      "--run-as needs an agent that runs as root, but --user runs it as another user: use only one of them",
    );
  if (platform === "darwin" && (runAs !== null || user !== null))
    throw usageError("a LaunchAgent runs in the session of the user who installs it: leave out --run-as and --user");
  if (runAs !== null && !isRoot) throw usageError("--run-as needs an agent that runs as root: install it with sudo");
  if (service !== null && !/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(service))
    throw usageError(
      "--service must consist of letters, digits, dots, dashes and underscores, and start with a letter or digit",
    );
};

interface Owner {
  uid: number;
  home: string;
}

/** @throws ExitError when the user does not exist. */
const findUser = (name: string): Owner => {
  if (!isUserName(name)) throw usageError("--user must be the name of a user");
  const outputOf = (command: string, args: string[]): string =>
    execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    return { uid: Number(outputOf("id", ["-u", "--", name])), home: outputOf("sh", ["-c", `echo ~${name}`]) };
  } catch {
    throw usageError(`--user: there is no user ${name} on this machine`);
  }
};

const serviceNameOf = (name: string, id: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "") || id;

/** @throws ExitError for wrong options, or when the state folder has no agent or another user's. */
export const serviceFile = (options: InstallOptions, program: string, machine: Machine): ServiceFile => {
  checkOptions(options, machine);
  const { runAs, user, work, grace, passed, service } = options;
  const owner = user === null ? null : findUser(user);
  const defaultState = owner ? join(owner.home, ".millrace") : defaultStateFolder();
  const state = resolve(options.state ?? defaultState);
  const identity = loadIdentity(state);
  if (owner && statSync(join(state, "identity.json")).uid !== owner.uid)
    throw usageError(`the agent in ${state} was not registered by ${user}: register it as that user`);
  const startOptions = [
    ...(runAs === null ? [] : ["--run-as", runAs]),
    ...(work === null ? [] : ["--work", resolve(work)]),
    ...(grace === null ? [] : ["--grace", String(grace)]),
    ...passed,
  ];
  const agent: AgentService = {
    name: service,
    agent: state === resolve(defaultState) ? null : serviceNameOf(identity.name, identity.id),
    command: [process.execPath, program, "start", "--state", state, ...startOptions],
    state,
    user,
    variables: machine.variables,
  };
  if (machine.platform === "darwin") return launchAgent(agent, machine.home);
  return systemdUnit(agent, machine.isRoot || user !== null ? null : machine.home);
};

/** @throws ExitError when the file exists and starts another agent, or cannot be written. */
export const writeServiceFile = ({ path, text, stateArgument }: ServiceFile): void => {
  if (existsSync(path) && !readFileSync(path, "utf8").includes(stateArgument))
    throw usageError(`${path} starts another agent: choose another name with --service NAME`);
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o644 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === "EACCES" ? usageError(`no permission to write ${path}: run install with sudo`) : error;
  }
};
