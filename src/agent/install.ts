import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { loadIdentity } from "./identity.ts";

export interface InstallOptions {
  state: string;
  runAs: string | null;
  /** Write the file where the system looks for it; otherwise its text is only shown. */
  write: boolean;
}

/** A file for the system's service manager, where it belongs, and what to run after it is there. */
export interface ServiceFile {
  path: string;
  text: string;
  next: string[];
}

const LABEL = "dev.millrace.agent";

/** systemd.service(5): a `%` begins a specifier and quotes keep spaces together. */
const unitQuoted = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$")}"`;

const xml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/**
 * SIGTERM lets a build finish, so stopping may take as long as a build may; a refused token is not tried again. Builds
 * get control groups below the agent's, which systemd leaves to it when it delegates.
 */
const systemdUnit = (command: string[], isRoot: boolean): ServiceFile => {
  const scope = isRoot ? "" : "--user ";
  return {
    path: isRoot
      ? "/etc/systemd/system/millrace-agent.service"
      : join(homedir(), ".config/systemd/user/millrace-agent.service"),
    text: `[Unit]
Description=Millrace build agent
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=${command.map(unitQuoted).join(" ")}
Restart=always
RestartSec=5
RestartPreventExitStatus=2 3 4
KillMode=mixed
Delegate=yes
TimeoutStopSec=1h

[Install]
WantedBy=${isRoot ? "multi-user" : "default"}.target
`,
    next: [
      `systemctl ${scope}daemon-reload`,
      `systemctl ${scope}enable --now millrace-agent`,
      ...(isRoot ? [] : ["loginctl enable-linger    # it then runs while you are not logged in"]),
      `journalctl ${scope}-u millrace-agent -f`,
    ],
  };
};

const launchAgent = (command: string[], state: string): ServiceFile => {
  const path = join(homedir(), `Library/LaunchAgents/${LABEL}.plist`);
  const log = join(state, "agent.log");
  return {
    path,
    text: `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((part) => `    <string>${xml(part)}</string>`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict><key>PATH</key><string>${xml(process.env.PATH ?? "/usr/bin:/bin")}</string></dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>10</integer>
  <key>ExitTimeOut</key><integer>3600</integer>
  <key>StandardErrorPath</key><string>${xml(log)}</string>
</dict>
</plist>
`,
    next: [`launchctl bootstrap gui/$(id -u) ${path}`, `launchctl print gui/$(id -u)/${LABEL}`, `tail -f ${log}`],
  };
};

/** @throws Stop when no agent is registered in the state folder: a service without one would only fail. */
export const serviceFile = (
  { state, runAs }: InstallOptions,
  program: string,
  platform = process.platform,
): ServiceFile => {
  loadIdentity(state);
  const command = [process.execPath, program, "start", "--state", state, ...(runAs ? ["--run-as", runAs] : [])];
  return platform === "darwin" ? launchAgent(command, state) : systemdUnit(command, process.getuid?.() === 0);
};

export const writeServiceFile = ({ path, text }: ServiceFile): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o644 });
};
