import { installConnection } from "../../services/app-installation.ts";
import { checkConnection } from "../../services/connection-check.ts";
import { rotateConnection, showHook } from "../../services/connection-hooks.ts";
import { deleteConnection } from "../../services/connection-removal.ts";
import { listHostRepositories } from "../../services/connection-repositories.ts";
import { createConnection, getConnection, listConnections, updateConnection } from "../../services/connections.ts";
import { linkRepository } from "../../services/repository-link.ts";
import { act, create, describing, get, type Route, remove, update } from "./route.ts";

export const CONNECTION_ROUTES: Route[] = [
  get("/connection", { listConnections }, describing && { tag: "Connections", summary: "List connections" }),
  create(
    "/connection",
    "/connection/:id",
    { createConnection },
    describing && {
      tag: "Connections",
      summary: "Connect a git host",
      description:
        "With a token the service registers hooks and reports the states of builds; the host is asked whose token it is before anything is stored. Without one, people make the hooks: `GET /connection/{id}/hook` says what to type. With `app` it acts as a GitHub App, whose webhook then is this connection's.",
      versioned: true,
      problems: ["limit-reached"],
    },
  ),
  get(
    "/connection/:id",
    { getConnection },
    describing && { tag: "Connections", summary: "Get a connection", versioned: true },
  ),
  update(
    "/connection/:id",
    { updateConnection },
    describing && {
      tag: "Connections",
      summary: "Update a connection",
      description:
        "The stored token stays unless `token` is sent: null removes it. It is bound to the host's address, so another `webUrl` or `apiUrl` needs the token again.",
      versioned: true,
      problems: ["conflict"],
    },
  ),
  remove(
    "/connection/:id",
    { deleteConnection },
    describing && {
      tag: "Connections",
      summary: "Disconnect a git host",
      description:
        "Its repositories stay, without the connection. The hooks that the service registered are removed as far as the host allows it: the audit entry names the repositories that still have one. May be repeated.",
      versioned: true,
      problems: ["conflict"],
    },
  ),
  act(
    "/connection/:id/installation",
    { installConnection },
    describing && {
      tag: "Connections",
      summary: "Find where the GitHub App is installed",
      description:
        "After a person has installed the App at GitHub, on the page that `pageUrl` names. From then on the service acts as the App; hooks that it registered by a token before are removed where the App delivers, and `hooks` says which stay. May be repeated.",
      versioned: true,
      problems: ["conflict"],
    },
  ),
  act(
    "/connection/:id/rotate",
    { rotateConnection },
    describing && {
      tag: "Connections",
      summary: "Replace the hook's address and secret",
      description:
        "The address before answers 410 from then on. Hooks that the service registered are told the new one at once, and the answer says which of them the host did not take; hooks made by hand have to be changed by hand.",
      versioned: true,
      problems: ["conflict"],
    },
  ),
  get(
    "/connection/:id/hook",
    { showHook },
    describing && {
      tag: "Connections",
      summary: "Show the hook's address and secret",
      description: "What to type where the host makes hooks. No other answer has it, and each time is in the audit.",
    },
  ),
  get(
    "/connection/:id/repository",
    { listHostRepositories },
    describing && {
      tag: "Connections",
      summary: "List the repositories of the host",
      description:
        "What the token lets the service see, a page of the host at a time. Without a token: the repositories that the last deliveries named.",
      problems: ["conflict"],
    },
  ),
  create(
    "/connection/:id/repository",
    "/repository/:id",
    { linkRepository },
    describing && {
      tag: "Connections",
      summary: "Connect a repository of the host",
      description:
        "Makes the repository's record, or takes the one with the same number or clone address, and registers the hook where there is a token. If the host refuses, nothing is stored and `detail` says which right is missing; with `registersHook: false` the hook is left to people.",
      versioned: true,
      problems: ["duplicate", "conflict", "limit-reached"],
    },
  ),
  get(
    "/connection/:id/check",
    { checkConnection },
    describing && {
      tag: "Connections",
      summary: "Try a connection",
      description: "Asks the host whose token it is, what the token lacks, and whether each hook is there.",
      problems: ["conflict"],
    },
  ),
];
