import type { ProblemKind } from "../../protocol/problem.ts";

/** What each kind of problem means, and what whoever meets it does next. */
export const REMEDIES: Record<ProblemKind, { meaning: string; remedy: string[] }> = {
  "malformed-body": {
    meaning: "The body is empty, is not JSON, or is not UTF-8.",
    remedy: [
      "Send one JSON object, encoded as UTF-8.",
      "Shells eat quotes: with curl, put the JSON into a file and send `-d @file.json`.",
    ],
  },
  unauthenticated: {
    meaning: "There is no token, or it is none of ours, or it has expired or been revoked. These are not told apart.",
    remedy: [
      "Send the header `Authorization: Bearer <token>`: one space, no quotes.",
      "If it worked before, make a new token: an admin of the organization does so with `POST /token`.",
      "If the last admin token is lost, the operator makes one with `POST /organization/{id}/token`.",
    ],
  },
  forbidden: {
    meaning: "The token is a live one, but its kind or role may not do this.",
    remedy: [
      "`detail` says which kind of token or which role is needed.",
      "Roles go up from viewer over member and maintainer to admin. A role cannot be changed: make a new token.",
      "Agents' tokens open the agent's own path only, and no user's token can poll for builds.",
    ],
  },
  "not-found": {
    meaning: "There is nothing with this id here: it was deleted, never was, or belongs to another organization.",
    remedy: [
      "List what there is and compare the ids.",
      "Check that the token is of the organization you mean: `GET /token/self`.",
    ],
  },
  "method-not-allowed": {
    meaning: "The path exists, but not with this method.",
    remedy: [
      "The header `Allow` names the methods there are.",
      "Changes are made with PUT, which changes only what it is given. There is no PATCH.",
    ],
  },
  conflict: {
    meaning: "The request is right, but the present state does not allow it.",
    remedy: ["`detail` says what stands in the way.", "Read the record again, decide again, and repeat."],
  },
  duplicate: {
    meaning: "There is one with the same key or name already.",
    remedy: [
      "`existingId` is the one that is there: update it with PUT, or choose another name.",
      "A script that may run twice takes `existingId` for its answer.",
    ],
  },
  "in-use": {
    meaning: "Something still uses it, so it cannot be deleted.",
    remedy: [
      "A group: detach it from the pipelines that name it in `groupIds`.",
      "A repository or pipeline: wait for its builds, or cancel them.",
    ],
  },
  "lease-lost": {
    meaning:
      "The agent no longer holds the build: its lease ran out, or the build was given to another agent or ended.",
    remedy: [
      "Stop the build's processes, throw its folder away, and poll again.",
      "If it happens often: heartbeats are late. Look at the agent's load and network.",
    ],
  },
  "log-gap": {
    meaning: "The chunk of the log does not follow what is stored of this lease.",
    remedy: ["Send again from `expectedOffset`, where what is stored ends."],
  },
  "stale-version": {
    meaning: "`If-Match` names a version that is no longer the newest: somebody changed the record since you read it.",
    remedy: ["Read the record again, apply your change to what it is now, and send it with the new ETag."],
  },
  "too-large": {
    meaning: "The body, or one value in it, is over its limit.",
    remedy: [
      "Bodies and log chunks may have 1 MiB, a variable's value 48 KiB, a run's overrides 256 KiB.",
      "Keep files elsewhere, and only their address and credential here.",
    ],
  },
  "unsupported-media-type": {
    meaning: "The body's Content-Type is not one that this route reads.",
    remedy: ["Send `Content-Type: application/json`; a log chunk goes as `application/octet-stream`."],
  },
  invalid: {
    meaning: "The request can be read, but something in it is not allowed.",
    remedy: [
      "`errors` names each field by its JSON pointer and says what is wrong with it.",
      "Fields that do not exist are refused, with the name that was probably meant: a slip in `isSecret` must not store a secret in the clear.",
      "An id that belongs to another organization is refused like one that does not exist.",
    ],
  },
  "idempotency-mismatch": {
    meaning: "The `Idempotency-Key` was used within the last 24 hours for another request.",
    remedy: ["Use a new key for a new request, and the same key only to repeat the very same one."],
  },
  "rate-limited": {
    meaning: "The token has sent more requests than it may in a minute.",
    remedy: [
      "Wait as long as `Retry-After` says (seconds).",
      "`RateLimit-Policy` tells the limit. Follow logs by events and poll for jobs with `wait` instead of asking again and again.",
      "Give each program a token of its own.",
    ],
  },
  "limit-reached": {
    meaning: "A limit of the organization is reached: builds in the queue, agents, variables, groups of a pipeline.",
    remedy: ["`detail` says which. Remove what is no longer needed, or let the queue drain."],
  },
  internal: {
    meaning: "Something went wrong on our side that nobody foresaw.",
    remedy: ["Repeat it once. If it stays, tell whoever runs the service the `requestId`: it leads to the log line."],
  },
  unavailable: {
    meaning: "A part of the service is away just now. Nothing is half-done.",
    remedy: [
      "Repeat the request after `Retry-After` seconds: every request may be repeated.",
      "Operators: `GET /readyz` names the part.",
    ],
  },
  "keyring-unavailable": {
    meaning: "The keys that seal secrets or sign tokens are missing or wrong in this deployment. Nothing was written.",
    remedy: [
      "Operators: `GET /readyz` names the Worker secret and what is wrong with it.",
      "Put it back with `npx wrangler secret put SECRETS_KEYS` (or TOKEN_KEYS). The old keys must stay in the list until nothing is sealed with them.",
    ],
  },
};
