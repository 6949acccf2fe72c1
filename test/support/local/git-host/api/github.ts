import type { ApiRoutes, HostState } from "../host-state.ts";
import { ownerAndNameRoutes } from "./owner-and-name.ts";

const SCOPES = { "X-OAuth-Scopes": "repo, admin:repo_hook" };

export const githubApi = (host: HostState): ApiRoutes =>
  ownerAndNameRoutes(host, {
    limit: "per_page",
    account: SCOPES,
    repository: ({ id, fullName, defaultBranch }) => ({
      id,
      full_name: fullName,
      default_branch: defaultBranch,
      private: true,
      clone_url: `${host.url}/${fullName}.git`,
    }),
    hookEvents: ({ events }) => events,
    states: ["error", "failure", "pending", "success"],
  });
