import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { gitHostName } from "../../src/domain/durable-objects.ts";
import type { DeliveryNote } from "../../src/githosts/core/delivery-note.ts";
import { type Hook, loadHookMint } from "../../src/githosts/core/hook-address.ts";
import type { GitHostObject } from "../../src/objects/host/git-host.ts";
import type { HostKind } from "../../src/protocol/connection.ts";
import type { DeliveryTaken } from "../../src/protocol/delivery.ts";
import type { Problem } from "../../src/protocol/problem.ts";
import worker from "../../src/worker.ts";
import type { Answer } from "./api.ts";

/** A stored connection, with its hook as its host knows it. */
export interface StoredConnection extends Hook {
  token: string;
  secret: string;
}

const grantOf = (hook: Hook) => loadHookMint(env.TOKEN_KEYS).grant(hook);

/** Returns the hook of a connection under another generation, as its host would know it. */
export const newHook = async (hook: Hook, generation: number): Promise<StoredConnection> => {
  const other = { ...hook, generation };
  return { ...other, ...(await grantOf(other)) };
};

const CLONE_ORIGINS: Record<HostKind, string> = {
  github: "https://github.com",
  gitlab: "https://gitlab.com",
  gitea: "https://codeberg.org",
};

/** Stores a connection without a token for its host. */
export const newConnection = async (orgId: string, kind: HostKind): Promise<StoredConnection> => {
  const connectionId = crypto.randomUUID();
  const at = new Date().toISOString();
  const origin = CLONE_ORIGINS[kind];
  await env.DB.prepare(
    `INSERT INTO connection (id, org_id, kind, name, web_url, api_url, clone_origin, auth, is_active, created_at, updated_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, 'none', 1, ?, ?)`,
  )
    .bind(connectionId, orgId, kind, `our ${kind}`, origin, `${origin}/api`, origin, at, at)
    .run();
  return newHook({ orgId, kind, connectionId, generation: 1 }, 1);
};

/** Adds a repository to the connection. */
export const attachRepository = async (repoId: string, { connectionId }: Hook): Promise<void> => {
  await env.DB.prepare("UPDATE repository SET connection_id = ? WHERE id = ?").bind(connectionId, repoId).run();
};

const hex = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Returns the headers with which a host proves that it knows the secret. */
export const signDelivery = async (
  { kind, secret }: Pick<StoredConnection, "kind" | "secret">,
  body: Uint8Array<ArrayBuffer>,
): Promise<Record<string, string>> => {
  if (kind === "gitlab") return { "X-Gitlab-Token": secret };
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), algorithm, false, ["sign"]);
  const mac = hex(await crypto.subtle.sign("HMAC", key, body));
  return kind === "github" ? { "X-Hub-Signature-256": `sha256=${mac}` } : { "X-Gitea-Signature": mac };
};

const EVENT_HEADERS: Record<HostKind, [event: string, delivery: string]> = {
  github: ["X-GitHub-Event", "X-GitHub-Delivery"],
  gitlab: ["X-Gitlab-Event", "Idempotency-Key"],
  gitea: ["X-Gitea-Event", "X-Gitea-Delivery"],
};

/** Returns a host's headers for an event. */
export const eventHeaders = (
  kind: HostKind,
  event: string,
  delivery: string = crypto.randomUUID(),
): Record<string, string> => {
  const [eventHeader, deliveryHeader] = EVENT_HEADERS[kind];
  return { "Content-Type": "application/json", [eventHeader]: event, [deliveryHeader]: delivery };
};

const UNLIMITED: RateLimit = { limit: async () => ({ success: true }) };

/** Sends a request to the service in a changed environment, and waits for all work after the answer. */
export const send = async <T = DeliveryTaken & Problem>(
  path: string,
  init: RequestInit,
  change: Partial<Env> = {},
): Promise<Answer<T>> => {
  const ctx = createExecutionContext();
  const request = new Request(`https://millrace.test${path}`, init);
  const deployed = { ...env, HOOK_RATE: UNLIMITED, ORGANIZATION_RATE: UNLIMITED, ...change } as Env;
  const response = await worker.fetch(request as Parameters<typeof worker.fetch>[0], deployed, ctx);
  const text = await response.text();
  await waitOnExecutionContext(ctx);
  return { status: response.status, headers: response.headers, body: JSON.parse(text), text };
};

const bytesOf = (body: string | object): Uint8Array<ArrayBuffer> =>
  body instanceof Uint8Array
    ? (body as Uint8Array<ArrayBuffer>)
    : new Uint8Array(new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)));

/** Delivers a body with the host's proof. `headers` are the event's. */
export const deliver = async (
  hook: StoredConnection,
  headers: Record<string, string>,
  body: string | object,
  change: Partial<Env> = {},
): Promise<Answer<DeliveryTaken & Problem>> => {
  const bytes = bytesOf(body);
  const proof = await signDelivery(hook, bytes);
  return send(`/hook/${hook.token}`, { method: "POST", headers: { ...headers, ...proof }, body: bytes }, change);
};

/** Reads the list of a connection's deliveries. */
export const readDeliveryNotes = ({ orgId, connectionId }: Hook): Promise<DeliveryNote[]> =>
  (env.GIT_HOST as DurableObjectNamespace<GitHostObject>).getByName(gitHostName(orgId, connectionId)).deliveries(200);
