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
    describing && { tag: "Repositories", summary: "Connect a repository", versioned: true, problems: ["duplicate"] },
  ),
  get(
    "/repository/:id",
    { getRepository },
    describing && { tag: "Repositories", summary: "Show a repository", versioned: true },
  ),
  update(
    "/repository/:id",
    { updateRepository },
    describing && {
      tag: "Repositories",
      summary: "Change a repository",
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
      description: "Its pipelines, variables and credential go with it. Refused while a build of it waits or runs.",
      versioned: true,
      problems: ["in-use", "conflict"],
    },
  ),
  put(
    "/repository/:id/credential",
    { setCredential },
    describing && {
      tag: "Repositories",
      summary: "Store the credential that clones the repository",
      description: "Replaces the one before. Only the fetch of a build is given it; its value is never returned.",
      problems: ["conflict"],
    },
  ),
  remove(
    "/repository/:id/credential",
    { deleteCredential },
    describing && { tag: "Repositories", summary: "Forget the clone credential", problems: ["conflict"] },
  ),
];
