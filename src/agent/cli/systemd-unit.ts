import { join } from "node:path";
import type { AgentService, ServiceFile } from "./service-file.ts";

/** systemd.service(5): a `%` begins a specifier and quotes keep spaces together. */
const quoted = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;

/** In a command a `$` begins a variable, too. */
const argument = (text: string): string => quoted(text).replaceAll("$", "$$$$");

const section = (name: string, lines: Record<string, string | null>): string =>
  [`[${name}]`, ...Object.entries(lines).flatMap(([key, value]) => (value === null ? [] : [`${key}=${value}`]))]
    .map((line) => `${line}\n`)
    .join("");

/**
 * Of the system, or of the user whose home is given: a user's services know no network-online.target.
 * SIGTERM lets a build finish, so stopping may take as long as a build may; a refused token is not tried again.
 */
export const systemdUnit = (
  { name, agent, command, state, user, path }: AgentService,
  home: string | null,
): ServiceFile => {
  const service = name ?? (agent === null ? "millrace-agent" : `millrace-agent-${agent}`);
  const systemctl = home === null ? "systemctl" : "systemctl --user";
  const online = home === null ? "network-online.target" : null;
  const sections = [
    section("Unit", { Description: "Millrace build agent", Wants: online, After: online }),
    section("Service", {
      User: user,
      Environment: quoted(`PATH=${path}`),
      ExecStart: command.map(argument).join(" "),
      ...{ Restart: "always", RestartSec: "5", RestartPreventExitStatus: "2 3 4" },
      // Builds get control groups below the agent's, which systemd leaves to it when it delegates.
      ...{ KillMode: "mixed", Delegate: "yes", TimeoutStopSec: "1h" },
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
            "sudo loginctl enable-linger $USER             # it then runs while you are not logged in",
            "export XDG_RUNTIME_DIR=/run/user/$(id -u)     # needed after su or sudo, else there already",
          ]),
      `${systemctl} daemon-reload`,
      `${systemctl} enable --now ${service}`,
      `${home === null ? "journalctl" : "journalctl --user"} -u ${service} -f`,
    ],
  };
};
