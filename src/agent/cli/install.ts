import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isUserName } from "../process/step-user.ts";
import { EXIT, ExitError } from "./exit-codes.ts";
import { defaultStateFolder, loadIdentity } from "./identity.ts";
import { type AgentService, launchAgent, type ServiceFile } from "./launchd.ts";

/** Quotes for systemd.service(5): `%` starts a specifier, and quotes keep spaces. */
const quoted = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;

/** Quotes for ExecStart, where `$` also starts a variable. */
const argument = (text: string): string => quoted(text).replaceAll("$", "$$$$");

const section = (name: string, lines: Record<string, string | null>): string =>
  [`[${name}]`, ...Object.entries(lines).flatMap(([key, value]) => (value === null ? [] : [`${key}=${value}`]))]
    .map((line) => `${line}\n`)
    .join("");

/**
 * Creates a unit for the system, or for the user whose home is given. User units have no network-online.target. The
 * agent finishes its build after SIGTERM, so a stop may take an hour. Exit codes that need a person stop restarts.
 */
const systemdUnit = (
  { name, agent, command, state, user, variables }: AgentService,
  home: string | null,
): ServiceFile => {
  const service = name ?? (agent === null ? "millrace-agent" : `millrace-agent-${agent}`);
  const systemctl = home === null ? "systemctl" : "systemctl --user";
  const online = home === null ? "network-online.target" : null;
  const sections = [
    section("Unit", { Description: "Millrace build agent", Wants: online, After: online }),
    section("Service", {
      User: user,
      Environment: Object.entries(variables)
        .map(([key, value]) => quoted(`${key}=${value}`))
        .join(" "),
      ExecStart: command.map(argument).join(" "),
      Restart: "always",
      RestartSec: "5",
      RestartPreventExitStatus: "2 3 4 6",
      KillMode: "mixed",
      // Lets the agent create control groups for builds below its own.
      Delegate: "yes",
      TimeoutStopSec: "1h",
    }),
    section("Install", { WantedBy: home === null ? "multi-user.target" : "default.target" }),
  ];
  return {
    path: join(home === null ? "/etc/systemd/system" : join(home, ".config/systemd/user"), `${service}.service`),
    text: sections.join("\n"),
    stateArgument: `${argument("--state")} ${argument(state)}`,
    nextCommands: [
      ...(home === null
        ? []
        : [
            "sudo loginctl enable-linger $USER             # keeps it running while you are not logged in",
            "export XDG_RUNTIME_DIR=/run/user/$(id -u)     # only needed after su or sudo",
          ]),
      `${systemctl} daemon-reload`,
      `${systemctl} enable --now ${service}`,
      `${home === null ? "journalctl" : "journalctl --user"} -u ${service} -f`,
    ],
  };
};

/**
 * Variables that locate the machine's tools, set its language, and reach its network. None of them is meant to be a
 * secret.
 */
const KEPT = new RegExp(
  `^(?:${[
    "PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ",
    "ANDROID_(?:HOME|SDK_ROOT|NDK_HOME|NDK_ROOT)|DEVELOPER_DIR|JAVA_HOME\\w*|ANT_HOME|M2_HOME|MAVEN_HOME|GRADLE_HOME",
    "DOTNET_ROOT|FLUTTER_ROOT|GOPATH|GOROOT",
    "(?:HTTP|HTTPS|ALL|NO)_PROXY|(?:http|https|all|no)_proxy",
    "SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE",
  ].join("|")})$`,
);

/** Explains why a variable that builds need must not be in a service file. The text follows the variable's name. */
const variableProblem = (name: string, value: string): string | null => {
  if (name === "SSH_AUTH_SOCK") return "ends with this session";
  if (/proxy$/i.test(name) && value.includes("@")) return "has a password";
  return /[\x00-\x1f\x7f]/.test(value) ? "has control characters" : null;
};

/**
 * Splits the shell's variables into those that a service keeps and those that it omits. An omitted one has its reason:
 * `NAME has a password`.
 */
export const variablesToKeep = (shell: NodeJS.ProcessEnv): { variables: Record<string, string>; omitted: string[] } => {
  const variables: Record<string, string> = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  const omitted: string[] = [];
  for (const [name, value = ""] of Object.entries(shell).toSorted()) {
    if (value === "" || !(KEPT.test(name) || name === "SSH_AUTH_SOCK")) continue;
    const problem = variableProblem(name, value);
    if (problem === null) variables[name] = value;
    else omitted.push(`${name} ${problem}`);
  }
  return { variables, omitted };
};

export interface InstallOptions {
  /** The state folder. Null means the default state folder of the agent's future user. */
  state: string | null;
  runAs: string | null;
  /** User of a system service. With null, the agent runs as the installing user. */
  user: string | null;
  work: string | null;
  grace: number | null;
  /** Options that the service passes to `start` unchanged. */
  furtherOptions: string[];
  service: string | null;
}

/** Facts that determine the service file. */
interface Machine {
  platform: string;
  isRoot: boolean;
  home: string;
  /** The shell's variables that the service keeps. */
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
      "--run-as requires an agent that runs as root, but --user runs it as another user: use only one of them",
    );
  if (platform === "darwin" && (runAs !== null || user !== null))
    throw usageError("a LaunchAgent runs in the session of the user who installs it: omit --run-as and --user");
  if (runAs !== null && !isRoot)
    throw usageError("--run-as requires an agent that runs as root: run install with sudo");
  if (service !== null && !/^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(service))
    throw usageError(
      "--service must consist of letters, digits, dots, dashes and underscores, and start with a letter or digit",
    );
};

/** Finds the user. @throws ExitError when the user does not exist */
const findUser = (name: string): { uid: number; home: string } => {
  if (!isUserName(name)) throw usageError("--user must be the name of a user");
  const readOutput = (command: string, args: string[]): string =>
    execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    return { uid: Number(readOutput("id", ["-u", "--", name])), home: readOutput("sh", ["-c", `echo ~${name}`]) };
  } catch {
    throw usageError(`--user: user ${name} does not exist on this machine`);
  }
};

const toServiceName = (name: string, id: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "") || id;

/**
 * Creates the service file.
 * @throws ExitError for wrong options, or when the state folder has no agent or another user's agent
 */
export const serviceFile = (options: InstallOptions, program: string, machine: Machine): ServiceFile => {
  checkOptions(options, machine);
  const { runAs, user, work, grace, furtherOptions, service } = options;
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
    ...furtherOptions,
  ];
  const agent: AgentService = {
    name: service,
    agent: state === resolve(defaultState) ? null : toServiceName(identity.name, identity.id),
    command: [process.execPath, program, "start", "--state", state, ...startOptions],
    state,
    user,
    variables: machine.variables,
  };
  if (machine.platform === "darwin") return launchAgent(agent, machine.home);
  return systemdUnit(agent, machine.isRoot || user !== null ? null : machine.home);
};

/** Writes the file. @throws ExitError when the file exists and starts another agent, or cannot be written */
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
