import type { HostKind } from "../protocol/connection.ts";
import { giteaClient } from "./gitea.ts";
import { githubClient } from "./github.ts";
import { gitlabClient } from "./gitlab.ts";
import type { HostAddress, HostClient } from "./host-client.ts";

const CLIENTS: Record<HostKind, (address: HostAddress) => HostClient> = {
  github: githubClient,
  gitlab: gitlabClient,
  gitea: giteaClient,
};

export const hostClient = (kind: HostKind, address: HostAddress): HostClient => CLIENTS[kind](address);
