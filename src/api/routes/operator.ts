import { listDeadLetters, retryDeadLetters } from "../../services/dead-letters.ts";
import {
  createAdminToken,
  createOrganization,
  listOrganizations,
  updateOrganization,
} from "../../services/organizations.ts";
import { reconcileRestored, restorePool } from "../../services/restores.ts";
import { countSealed, rewrap } from "../../services/rewrap.ts";
import { deleteOrganization, exportOrganization, readServiceMetrics } from "../streams.ts";
import { act, create, describing, get, type Route, removeInShares, update } from "./route.ts";

export const OPERATOR_ROUTES: Route[] = [
  get(
    "/organization",
    { listOrganizations },
    describing && { tag: "Operator", summary: "List organizations", description: "Sorted by slug." },
  ),
  create(
    "/organization",
    "/organization/:id",
    { createOrganization },
    describing && {
      tag: "Operator",
      summary: "Create an organization and its first admin token",
      description: "The answer contains the token; no later answer does. The slug is never used again.",
      problems: ["duplicate"],
    },
  ),
  create(
    "/organization/:id/token",
    "/token/:id",
    { createAdminToken },
    describing && {
      tag: "Operator",
      summary: "Create an admin token for an organization",
      description: "Restores access when the last admin token of an organization is lost.",
      problems: ["conflict"],
    },
  ),
  update(
    "/organization/:id",
    { updateOrganization },
    describing && {
      tag: "Operator",
      summary: "Set the limits of an organization",
      description:
        "Raises or lowers what one organization may have: those of `limits` that are sent, where null is the default again. A lower limit than what is there takes nothing away.",
      problems: ["conflict"],
    },
  ),
  removeInShares(
    "/organization/:id",
    { deleteOrganization },
    describing && {
      tag: "Operator",
      summary: "Delete an organization and everything that it has",
      description:
        "With the first request its tokens and agents are refused. A minute later, when what they began has ended, each request deletes a share: repeat it until the answer is 204, or leave the rest to the service, which goes on every minute. Nothing can be restored, and the slug is never used again.",
      also: { 204: "Nothing of it is left" },
    },
  ),
  get(
    "/organization/:id/export",
    { exportOrganization },
    describing && {
      tag: "Operator",
      summary: "Export everything that an organization has",
      description:
        "Each line is JSON: the first one of the first page names the version and the nouns, each other one has a `noun` and a `record`, as the API answers it. Contains no secret value and no token. The pages lead through all nouns, or through the one that `noun` names. Logs are not included: read each at `/build/{id}/log`.",
      text: { types: ["application/jsonl"], alone: true },
    },
  ),
  act(
    "/operator/restored",
    { reconcileRestored },
    describing && {
      tag: "Operator",
      summary: "Reconcile the pools with the database after a restore",
      description:
        "Send it after the database, or pools, were restored to an earlier time: each pool tells the database again what it knows, or takes over what the database knows. Repeat the request with `after` of the answer until that is null. It may be interrupted and repeated.",
      problems: ["not-found"],
    },
  ),
  act(
    "/operator/pool/restore",
    { restorePool },
    describing && {
      tag: "Operator",
      summary: "Set the pool of one organization back to an earlier time",
      description:
        "By the point-in-time recovery of Durable Objects, which reaches back 30 days and exists on Cloudflare only: elsewhere the answer is 409. The pool reconciles itself with the database before it hands out anything. docs/recovery.md says what is lost.",
      problems: ["not-found", "conflict"],
    },
  ),
  get(
    "/operator/rewrap",
    { countSealed },
    describing && {
      tag: "Operator",
      summary: "Count the values that are sealed with each key",
      description: "A key may be removed from the keyring once its counts are zero in two answers in a row.",
    },
  ),
  act(
    "/operator/rewrap",
    { rewrap },
    describing && {
      tag: "Operator",
      summary: "Seal one batch of values again with the current key",
      description:
        "Repeat the request until `isComplete` is true. It may be interrupted at any point. Changes at the same time take precedence.",
    },
  ),
  get(
    "/operator/metrics",
    { readServiceMetrics },
    describing && {
      tag: "Operator",
      summary: "Get the numbers of the whole deployment",
      description:
        "For the people on call: what upkeep found in its last run, across organizations. JSON, or the Prometheus text format with `Accept: text/plain`. No pool is asked.",
      text: { types: ["text/plain"] },
    },
  ),
  get(
    "/operator/dead-letter",
    { listDeadLetters },
    describing && {
      tag: "Operator",
      summary: "List what the pool of an organization could not deliver or read",
      description: "Sorted by number. Says what each is about and why it was set aside, never what it contains.",
      problems: ["not-found"],
    },
  ),
  act(
    "/operator/dead-letter/retry",
    { retryDeadLetters },
    describing && {
      tag: "Operator",
      summary: "Try dead letters again",
      description:
        "Those with these numbers, or without `seqs` the first page. What fails again becomes a dead letter again, with a new number.",
      problems: ["not-found"],
    },
  ),
];
