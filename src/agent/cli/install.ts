import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { EXIT, ExitError } from "./exit-codes.ts";
import { defaultStateFolder, loadIdentity } from "./identity.ts";
import { launchAgent } from "./launch-agent.ts";
import type { AgentService, ServiceFile } from "./service-file.ts";
import { systemdUnit } from "./systemd-unit.ts";

export interface InstallOptions {
  /** Null: where `register` puts it, for the user that the agent will run as. */
  state: string | null;
  runAs: string | null;
  /** The user of a system service; null runs the agent as whoever installs it. */
  user: string | null;
  work: string | null;
  grace: number | null;
  service: string | null;
}

/** What of the machine decides which file is made. */
export interface Machine {
  platform: string;
  isRoot: boolean;
  home: string;
  path: string;
}

const thisMachine = (): Machine => ({
  platform: process.platform,
  isRoot: process.getuid?.() === 0,
  home: homedir(),
  path: process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
});

const usageError = (message: string): ExitError => new ExitError(message, EXIT.usage);

const refuseContradictions = ({ runAs, user, service }: InstallOptions, { platform, isRoot }: Machine): void => {
  if (runAs !== null && user !== null)
    throw usageError("--run-as needs an agent that runs as root, and --user makes it run as another: choose one");
  if (platform === "darwin" && (runAs !== null || user !== null))
    throw usageError("a LaunchAgent runs in the session of the user who installs it: neither --run-as nor --user");
  if (runAs !== null && !isRoot) throw usageError("--run-as needs an agent that runs as root: install it with sudo");
  if (service !== null && !/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(service))
    throw usageError("--service must be letters, digits, dots, dashes and underscores");
};

interface Owner {
  uid: number;
  home: string;
}

/** @throws Stop when there is no such user. */
const findUser = (name: string): Owner => {
  if (!/^[A-Za-z_][A-Za-z0-9_.-]*\$?$/.test(name)) throw usageError("--user must be the name of a user");
  const ask = (command: string, args: string[]): string =>
    execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    return { uid: Number(ask("id", ["-u", "--", name])), home: ask("sh", ["-c", `echo ~${name}`]) };
  } catch {
    throw usageError(`--user: there is no user ${name} on this machine`);
  }
};

const nameOfAgent = (name: string, id: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "") || id;

/** @throws Stop when no agent is registered in the state folder, or it is another user's: it would only fail. */
export const serviceFile = (options: InstallOptions, program: string, machine = thisMachine()): ServiceFile => {
  refuseContradictions(options, machine);
  const { runAs, user, work, grace, service } = options;
  const owner = user === null ? null : findUser(user);
  const usual = owner ? join(owner.home, ".millrace") : defaultStateFolder();
  const state = resolve(options.state ?? usual);
  const identity = loadIdentity(state);
  if (owner && statSync(join(state, "identity.json")).uid !== owner.uid)
    throw usageError(`the agent in ${state} was not registered by ${user}: register it as that user`);
  const more = [
    ...(runAs === null ? [] : ["--run-as", runAs]),
    ...(work === null ? [] : ["--work", resolve(work)]),
    ...(grace === null ? [] : ["--grace", String(grace)]),
  ];
  const agent: AgentService = {
    ...{ name: service, agent: state === resolve(usual) ? null : nameOfAgent(identity.name, identity.id) },
    ...{ command: [process.execPath, program, "start", "--state", state, ...more], state, user, path: machine.path },
  };
  if (machine.platform === "darwin") return launchAgent(agent, machine.home);
  return systemdUnit(agent, machine.isRoot || user !== null ? null : machine.home);
};

/** @throws Stop when the file is there already and starts another agent. */
export const writeServiceFile = ({ path, text, stateArgument }: ServiceFile): void => {
  if (existsSync(path) && !readFileSync(path, "utf8").includes(stateArgument))
    throw usageError(`${path} starts another agent: give this one a name of its own with --service NAME`);
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o644 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === "EACCES" ? usageError(`${path} may not be written: install with sudo`) : error;
  }
};
