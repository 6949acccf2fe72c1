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
      summary: "Make a token",
      description:
        "Kind `api` is for people and programs and has a role; kind `registration` can only register agents, and grants at most its `labels`.",
    },
  ),
  get(
    "/token/self",
    { getOwnToken },
    describing && { tag: "Tokens", summary: "Show the token that calls", versioned: true },
  ),
  get("/token/:id", { getToken }, describing && { tag: "Tokens", summary: "Show a token", versioned: true }),
  update(
    "/token/:id",
    { updateToken },
    describing && {
      tag: "Tokens",
      summary: "Change a token's name, role, labels or end",
      description:
        "Holds from the next request on. Agents that it registered keep the labels they were granted. The last admin may step down too: the operator can make another.",
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
      description: "The one before stays good for `graceSeconds`, so that programs can change over.",
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
        "Holds from the next write, hand-out or agent call; a read that a replica serves may trail by its lag. Agents that it registered stay, unless `agents=true`: then they are removed, and their builds are free for others at once. That may be repeated, also when the token is gone already.",
      versioned: true,
      problems: ["conflict"],
    },
  ),
];
