import { copyFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { MIB } from "../../protocol/units.ts";
import { EXIT } from "./exit-codes.ts";

/** The agent as a service of the machine. */
export interface AgentService {
  /** The service's name from --service. */
  name: string | null;
  /** The agent's name, unless it is in its user's default state folder. */
  agent: string | null;
  command: string[];
  state: string;
  user: string | null;
  /** The variables of the shell that ran `install`. */
  variables: Record<string, string>;
}

/** A file for the service manager. */
export interface ServiceFile {
  path: string;
  text: string;
  /** Text that only this agent's files contain. It is the --state argument. */
  stateArgument: string;
  /** Commands to run after the file is written. */
  nextCommands: string[];
}

/** The LaunchAgent sets this variable when the agent runs under launchd, which appends the agent's log to this file. */
const LAUNCHD_LOG = "MILLRACE_LAUNCHD_LOG";

const LOG_LIMIT = 5 * MIB;

/** Moves a log above the limit to `FILE.1` and empties the file, because launchd does not rotate logs. */
export const rotateLog = (limit = LOG_LIMIT): void => {
  const path = process.env[LAUNCHD_LOG];
  if (!path) return;
  try {
    if (statSync(path).size < limit) return;
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
  } catch {
    // A failed rotation must not end a build.
  }
};

const NOT_RESTARTED: number[] = [EXIT.usage, EXIT.notRegistered, EXIT.alreadyRunning, EXIT.hooks];

/**
 * Reports whether only a person can fix this error. The agent must then end with 0, because launchd restarts it on
 * other codes.
 */
export const mustNotRestart = (exitCode: number): boolean =>
  process.env[LAUNCHD_LOG] !== undefined && NOT_RESTARTED.includes(exitCode);

const xml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const string = (text: string): string => `<string>${xml(text)}</string>`;

/** Returns a default language, because launchd sets none, and CocoaPods, fastlane and others fail without UTF-8. */
const languageFor = ({ LANG, LC_ALL, LC_CTYPE }: Record<string, string>): Record<string, string> =>
  (LANG ?? LC_ALL ?? LC_CTYPE) === undefined ? { LANG: "en_US.UTF-8" } : {};

/**
 * Creates a launchd.plist(5). Without `ProcessType`, macOS limits the agent's and its builds' processor and disk use.
 */
export const launchAgent = ({ name, agent, command, state, variables }: AgentService, home: string): ServiceFile => {
  const label = name ?? (agent === null ? "dev.millrace.agent" : `dev.millrace.agent.${agent}`);
  const file = join(home, `Library/LaunchAgents/${label}.plist`);
  const log = join(state, "agent.log");
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>${string(label)}
  <key>ProgramArguments</key>
  <array>
${command.map((part) => `    ${string(part)}`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries({ ...languageFor(variables), ...variables, [LAUNCHD_LOG]: log })
  .map(([key, value]) => `    <key>${key}</key>${string(value)}`)
  .join("\n")}
  </dict>
  <key>ProcessType</key><string>Interactive</string>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>10</integer>
  <key>ExitTimeOut</key><integer>3600</integer>
  <key>StandardErrorPath</key>${string(log)}
</dict>
</plist>
`;
  return {
    path: file,
    text,
    stateArgument: `${string("--state")}\n    ${string(state)}\n`,
    nextCommands: [
      `launchctl bootstrap gui/$(id -u) ${file}`,
      `launchctl print gui/$(id -u)/${label}`,
      `tail -f ${log}`,
    ],
  };
};
