import { deleteCredential, setCredential } from "../../services/credentials.ts";
import {
  connectRepository,
  deleteRepository,
  getRepository,
  listRepositories,
  updateRepository,
} from "../../services/repositories.ts";
import { create, describing, get, put, type Route, remove, update } from "./route.ts";

export const REPOSITORY_ROUTES: Route[] = [
  get("/repository", { listRepositories }, describing && { tag: "Repositories", summary: "List repositories" }),
  create(
    "/repository",
    "/repository/:id",
    { connectRepository },
    describing && {
      tag: "Repositories",
      summary: "Connect a repository",
      versioned: true,
      problems: ["duplicate", "limit-reached"],
    },
  ),
  get(
    "/repository/:id",
    { getRepository },
    describing && { tag: "Repositories", summary: "Get a repository", versioned: true },
  ),
  update(
    "/repository/:id",
    { updateRepository },
    describing && {
      tag: "Repositories",
      summary: "Update a repository",
      versioned: true,
      problems: ["duplicate", "in-use", "conflict"],
    },
  ),
  remove(
    "/repository/:id",
    { deleteRepository },
    describing && {
      tag: "Repositories",
      summary: "Disconnect a repository",
      description:
        "Also deletes its pipelines, variables and clone credential. Refused while the repository has active builds.",
      versioned: true,
      problems: ["in-use", "conflict"],
    },
  ),
  put(
    "/repository/:id/credential",
    { setCredential },
    describing && {
      tag: "Repositories",
      summary: "Store the clone credential of a repository",
      description: "Replaces the stored credential. Agents receive it for the fetch only. Its value is never returned.",
      problems: ["conflict"],
    },
  ),
  remove(
    "/repository/:id/credential",
    { deleteCredential },
    describing && { tag: "Repositories", summary: "Delete the clone credential", problems: ["conflict"] },
  ),
];
