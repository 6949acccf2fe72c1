import { join } from "node:path";
import type { AgentService, ServiceFile } from "./service-file.ts";

/** systemd.service(5): `%` starts a specifier; quotes keep spaces. */
const quoted = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;

/** In ExecStart, `$` also starts a variable. */
const argument = (text: string): string => quoted(text).replaceAll("$", "$$$$");

const section = (name: string, lines: Record<string, string | null>): string =>
  [`[${name}]`, ...Object.entries(lines).flatMap(([key, value]) => (value === null ? [] : [`${key}=${value}`]))]
    .map((line) => `${line}\n`)
    .join("");

/**
 * A unit of the system, or of the user whose home is given; user units have no network-online.target.
 * The agent finishes its build after SIGTERM, so a stop may take an hour. Exit codes that need a person stop restarts.
 */
export const systemdUnit = (
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
      // Lets the agent make control groups for builds below its own.
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
