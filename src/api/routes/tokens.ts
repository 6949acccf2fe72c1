import {
  createToken,
  getOwnToken,
  getToken,
  listTokens,
  revokeToken,
  rotateToken,
  updateToken,
} from "../../services/tokens.ts";
import { act, create, describing, get, type Route, remove, update } from "./route.ts";

export const TOKEN_ROUTES: Route[] = [
  get("/token", { listTokens }, describing && { tag: "Tokens", summary: "List tokens" }),
  create(
    "/token",
    "/token/:id",
    { createToken },
    describing && {
      tag: "Tokens",
      summary: "Create a token",
      description:
        "A token of kind `api` is for a person or program and has a role. A token of kind `registration` can only register agents, which may have no other labels than its `labels`.",
      problems: ["limit-reached"],
    },
  ),
  get(
    "/token/self",
    { getOwnToken },
    describing && { tag: "Tokens", summary: "Get the token of this request", versioned: true },
  ),
  get("/token/:id", { getToken }, describing && { tag: "Tokens", summary: "Get a token", versioned: true }),
  update(
    "/token/:id",
    { updateToken },
    describing && {
      tag: "Tokens",
      summary: "Update a token's name, role, labels or expiry",
      description:
        "The change applies from the next request on. Agents that the token registered keep their labels. Even the last admin token may lose its role: the operator can create another.",
      versioned: true,
      problems: ["conflict"],
    },
  ),
  act(
    "/token/:id/rotate",
    { rotateToken },
    describing && {
      tag: "Tokens",
      summary: "Replace a token's secret",
      description: "The old secret stays valid for `graceSeconds`, so that programs can switch to the new one.",
      versioned: true,
      problems: ["conflict"],
    },
  ),
  remove(
    "/token/:id",
    { revokeToken },
    describing && {
      tag: "Tokens",
      summary: "Revoke a token",
      description:
        "The token is refused from the next write, hand-out or agent call on; a read from a replica may accept it until the replica has caught up. Agents that the token registered stay. With `agents=true` they are removed, and their builds return to the queue; this request may be repeated, even when the token no longer exists.",
      versioned: true,
      problems: ["conflict"],
    },
  ),
];
