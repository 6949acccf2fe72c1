import * as z from "zod/mini";
import type { Role } from "../../protocol/token.ts";
import { ask, pathOf } from "../core/ask.ts";
import { HostProblem } from "../core/host-problem.ts";
import { appManner } from "./app.ts";

const Permission = z.object({ permission: z.string(), role_name: z.nullish(z.string()) });

/**
 * The role of a person by their permission on the repository: write is a member, maintain a maintainer, admin an admin;
 * null for less. https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user
 * @throws HostProblem
 */
export const roleAtGithub = async (
  apiUrl: string,
  token: string,
  fullName: string,
  login: string,
): Promise<Role | null> => {
  const path = `/repos/${pathOf(fullName)}/collaborators/${encodeURIComponent(login)}/permission`;
  const request = { method: "GET", path, right: "the permission Metadata: read" } as const;
  try {
    const { permission, role_name: name } = (await ask(appManner(apiUrl, token), request, Permission)).value;
    if (permission === "admin") return "admin";
    if (permission !== "write") return null;
    return name === "maintain" ? "maintainer" : "member";
  } catch (error) {
    if (error instanceof HostProblem && error.kind === "missing") return null;
    throw error;
  }
};
