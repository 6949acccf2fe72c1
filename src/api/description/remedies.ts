import { byteSize, LIMITS, PERIODS } from "../../protocol/limits.ts";
import type { ProblemKind } from "../../protocol/problem.ts";

/** The meaning of each kind of problem, and its caller's remedies. */
export const REMEDIES: Record<ProblemKind, { meaning: string; remedy: string[] }> = {
  "malformed-body": {
    meaning: "The body is empty, is not JSON, or is not UTF-8.",
    remedy: [
      "Send one JSON object, encoded as UTF-8.",
      "A shell may remove quotes: with curl, write the JSON to a file and send `-d @file.json`.",
    ],
  },
  unauthenticated: {
    meaning:
      "The token is missing, unknown, expired or revoked. The answer does not say which, so that nobody can probe for tokens.",
    remedy: [
      "Send the header `Authorization: Bearer <token>`: one space, no quotes.",
      "If the token worked earlier, create a new one: an admin of the organization can do so with `POST /token`.",
      "If the last admin token is lost, the operator creates one with `POST /organization/{id}/token`.",
    ],
  },
  forbidden: {
    meaning: "The token is valid, but its kind or role does not allow this request.",
    remedy: [
      "`detail` names the required kind of token or role.",
      "Each role includes the previous ones: viewer, member, maintainer, admin. An admin changes a token's role with `PUT /token/{id}`.",
      "An agent's token works only on the agent's own path. No other token can poll for builds.",
    ],
  },
  "not-found": {
    meaning:
      "The organization has no record with this id: it was deleted, never existed, or belongs to another organization.",
    remedy: [
      "List the records and compare the ids.",
      "Check that the token belongs to the organization you mean: `GET /token/self`.",
    ],
  },
  gone: {
    meaning: "The address is no longer valid: the service rejects everything sent there.",
    remedy: [
      "For a git host's hook: its connection was removed or switched off, or the hook got a new address. Enter the address from `GET /connection/{id}/hook` at the host, or remove the hook there.",
    ],
  },
  "method-not-allowed": {
    meaning: "The path exists, but it does not support this method.",
    remedy: [
      "The `Allow` header lists the path's methods.",
      "PUT changes the fields that you send. Where PUT changes a record, PATCH does the same.",
    ],
  },
  conflict: {
    meaning: "The request is valid, but the current state does not allow it.",
    remedy: [
      "`detail` says why.",
      "Read the record again, decide again, and repeat the request if it still makes sense.",
    ],
  },
  duplicate: {
    meaning: "A record with the same key or name already exists.",
    remedy: [
      "`existingId` is the existing record's id: update it with PUT, or choose another name.",
      "A script that may run twice can treat `existingId` as its result.",
    ],
  },
  "in-use": {
    meaning: "Another record or an active build still uses the record.",
    remedy: [
      "A group: remove it from the `groupIds` of its pipelines.",
      "A repository or pipeline: wait for its builds to end, or cancel them.",
      "A repository that moves to another clone host: delete its clone credential first.",
    ],
  },
  "lease-lost": {
    meaning:
      "The agent no longer holds the build: its lease expired, or the build ended or was handed out to another agent.",
    remedy: [
      "Stop the processes of the build, delete its folder, and poll again.",
      "If this happens often, heartbeats arrive too late: check the load and the network of the agent's machine.",
    ],
  },
  "log-gap": {
    meaning: "The chunk does not start where the stored part of this lease's log ends.",
    remedy: ["Send the log again from the byte `expectedOffset`."],
  },
  "stale-version": {
    meaning: "`If-Match` has an old version: the record has changed since you read it.",
    remedy: ["Read the record again, apply your change to it, and send it with the new ETag."],
  },
  "too-large": {
    meaning: "The body or one of its values exceeds a limit.",
    remedy: [
      `Limits: ${byteSize(LIMITS.bodyBytes)} for a body, ${byteSize(LIMITS.logChunkBytes)} for a log chunk, ${byteSize(LIMITS.valueBytes)} for a variable's value, ${byteSize(LIMITS.envVariablesBytes)} for a build's \`envVariables\`, ${byteSize(LIMITS.environmentBytes)} for a composed environment.`,
      "Store large files elsewhere, and store only their address and credential here.",
    ],
  },
  "unsupported-media-type": {
    meaning: "The route does not accept this Content-Type.",
    remedy: ["Send `Content-Type: application/json`. A log chunk is `application/octet-stream`."],
  },
  invalid: {
    meaning: "The request is well-formed, but a field, parameter or header has an invalid value.",
    remedy: [
      "`errors` lists each wrong field with its JSON pointer and the reason.",
      "The service rejects unknown fields, and suggests a known field with a similar name: a misspelled `isSecret` must not store a secret in plain text.",
      "The service treats another organization's id like an id that does not exist.",
    ],
  },
  "idempotency-mismatch": {
    meaning: `The same \`Idempotency-Key\` was used within the last ${PERIODS.idempotencyHours} hours with a different request.`,
    remedy: ["Use a new key for each new request. Use the same key only to repeat the same request."],
  },
  "rate-limited": {
    meaning: "The token or its organization has exceeded its requests per minute: `detail` says which.",
    remedy: [
      "Wait for the number of seconds in `Retry-After`.",
      "The `RateLimit-Policy` header has the limit. Follow logs as events, and poll for jobs with `wait`, instead of repeating requests.",
      "Give each program its own token. If all tokens of the organization together send too many requests, the operator of the service may raise its limit.",
    ],
  },
  "limit-reached": {
    meaning:
      "The organization has reached a limit: builds per day, waiting jobs, the size of their `envVariables`, agents, agents per registration token, or records of one kind.",
    remedy: [
      "Wait until the day ends or builds leave the queue, as `detail` says, or delete agents and records that you no longer need.",
      "The operator can raise the limits of an organization: `limits` of `PATCH /organization/{id}`.",
    ],
  },
  internal: {
    meaning: "The service failed unexpectedly.",
    remedy: [
      "Repeat the request once. If it fails again, send the `requestId` to the operator of the service: it identifies the log line.",
    ],
  },
  unavailable: {
    meaning: "A part of the service does not answer at the moment. The service left no change half done.",
    remedy: [
      "Repeat the request after the number of seconds in `Retry-After`. Every request may be repeated.",
      "Operators: `GET /readyz` names the part.",
    ],
  },
  "keyring-unavailable": {
    meaning: "This deployment's keys that seal secrets or sign tokens are missing or wrong. The service wrote nothing.",
    remedy: [
      "Operators: `GET /readyz` names the Worker secret and the mistake in it.",
      "Restore it with `npx wrangler secret put SECRETS_KEYS` (or TOKEN_KEYS). Keep an old key in the list until nothing is sealed with it.",
    ],
  },
};
