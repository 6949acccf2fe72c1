import type { ApiRoutes, HostState } from "../host-state.ts";
import { ownerAndNameRoutes } from "./owner-and-name.ts";

export const giteaApi = (host: HostState): ApiRoutes =>
  ownerAndNameRoutes(host, {
    limit: "limit",
    account: {},
    repository: ({ id, fullName, defaultBranch }) => ({
      id,
      full_name: fullName,
      default_branch: defaultBranch,
      private: true,
      clone_url: `${host.url}/${fullName}.git`,
    }),
    hookEvents: ({ events }) => events,
    states: ["pending", "success", "error", "failure", "warning"],
  });
