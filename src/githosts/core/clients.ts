import type { HostKind } from "../../protocol/connection.ts";
import { giteaClient } from "../gitea/client.ts";
import { githubClient } from "../github/client.ts";
import { gitlabClient } from "../gitlab/client.ts";
import type { HostAddress, HostClient } from "./host-client.ts";

const CLIENTS: Record<HostKind, (address: HostAddress) => HostClient> = {
  github: githubClient,
  gitlab: gitlabClient,
  gitea: giteaClient,
};

export const hostClient = (kind: HostKind, address: HostAddress): HostClient => CLIENTS[kind](address);
