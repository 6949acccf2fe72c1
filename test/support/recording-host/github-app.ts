import { createPublicKey, verify } from "node:crypto";
import { type Call, json, missing, pageOf, shownLikeGithub } from "./answers.ts";
import { hookDeliveries } from "./hook-deliveries.ts";
import type { HostedApp } from "./host-state.ts";

const read = (part = "") => JSON.parse(Buffer.from(part, "base64url").toString());

/** Returns why GitHub would reject this JWT; null if it would accept it. */
const jwtProblem = (app: HostedApp, jwt: string): string | null => {
  const [head, claims, signature = ""] = jwt.split(".");
  try {
    const { iat, exp, iss } = read(claims);
    const now = Date.now() / 1000;
    if (read(head).alg !== "RS256") return "not RS256";
    if (![app.clientId, String(app.id)].includes(String(iss))) return "wrong App";
    if (exp - iat > 600) return "lifetime too long";
    if (!app.isAnyTime && (iat > now || exp < now)) return "not valid now";
    const signed = Buffer.from(`${head}.${claims}`);
    const isRight = verify("sha256", signed, createPublicKey(app.publicKey), Buffer.from(signature, "base64url"));
    return isRight ? null : "signed with another key";
  } catch {
    return "not a JWT";
  }
};

const PERMISSIONS = {
  ...{ metadata: "read", contents: "read", pull_requests: "read" },
  ...{ statuses: "write", checks: "write", merge_queues: "read" },
};

const installationOf = ({ installationId, account, permissions = PERMISSIONS }: HostedApp) => ({
  id: installationId,
  account: { login: account, id: 77, type: "Organization" },
  ...{ permissions, repository_selection: "selected", suspended_at: null },
});

/** Creates a token with the form and the approximate length of GitHub's tokens since April 2026. */
const newToken = (app: HostedApp, count: number, isClassic: boolean): string =>
  isClassic
    ? `ghs_${String(count).padStart(36, "c")}`
    : `ghs_${app.id}_${"canary-minted-".repeat(34)}.${"x".repeat(30)}.${count}`;

const mint = ({ place, body }: Call, app: HostedApp, isClassic: boolean): Response => {
  const token = newToken(app, place.minted.length, isClassic);
  place.minted.push({ token, body: body ?? {}, isClassic });
  const expires_at = new Date(Date.now() + (app.tokenMs ?? 3_600_000)).toISOString();
  return json(201, { token, expires_at, permissions: body?.permissions ?? {} });
};

const hookCall = (method: string, { place, body }: Call): Response => {
  if (method === "PATCH") place.appHook = { ...place.appHook, ...body };
  return json(200, { ...place.appHook, secret: "********" });
};

const installationCall = (method: string, call: Call, app: HostedApp, headers: Headers): Response | undefined => {
  const [, , id, more] = call.parts;
  const places = app.installationId === undefined ? [] : [installationOf(app)];
  if (id === undefined) return json(200, pageOf(places, call.query, "per_page"));
  if (Number(id) !== app.installationId) return missing();
  if (more === "access_tokens") return mint(call, app, headers.get("X-GitHub-Stateless-S2S-Token") === "disabled");
  if (method === "GET") return json(200, places[0]);
  delete app.installationId;
  call.place.minted = [];
  return json(204, null);
};

/** Returns the repositories for which the App is installed. */
const seenBy = ({ settings }: Call["place"], app: HostedApp) =>
  settings.repositories.filter(({ id }) => app.installationId !== undefined && (app.sees?.includes(id) ?? true));

/** GitHub accepts a code once. */
const conversion = ({ parts }: Call, app: HostedApp): Response => {
  const { made } = app;
  if (made?.code !== parts[1]) return missing();
  delete app.made;
  const secrets = { client_secret: "canary-client-secret", webhook_secret: "canary-webhook-secret" };
  return json(201, { id: app.id, client_id: app.clientId, slug: "millrace-acme", pem: made?.key, ...secrets });
};

const byJwt = (method: string, call: Call, app: HostedApp, headers: Headers): Response | undefined => {
  const [first, second, third, fourth] = call.parts;
  const page = `${call.place.api.replace("/api/v3", "")}/github-apps/millrace-acme`;
  if (first === "repos" && fourth === "installation") {
    const isSeen = seenBy(call.place, app).some(({ fullName }) => fullName === `${second}/${third}`);
    return isSeen ? json(200, installationOf(app)) : missing();
  }
  if (second === undefined) return json(200, { id: app.id, client_id: app.clientId, html_url: page });
  if (second === "hook" && third === "deliveries") return hookDeliveries(method, call);
  if (second === "hook") return hookCall(method, call);
  return second === "installations" ? installationCall(method, call, app, headers) : undefined;
};

/** Answers git's own protocol, below the address of the host. */
export const answerGit = ({ settings, minted }: Call["place"], headers: Headers): Response => {
  const [, password] = atob(headers.get("Authorization")?.replace("Basic ", "") ?? "").split(":");
  const found = minted.find(({ token }) => token === password);
  if (!found) return new Response("no", { status: 401 });
  return new Response("", { status: settings.app?.gitTakesClassicOnly && !found.isClassic ? 404 : 200 });
};

/** Answers a GitHub App that authenticates with its key, or has a code; undefined for everything else. */
export const answerApp = (method: string, call: Call, headers: Headers): Response | undefined => {
  const { app } = call.place.settings;
  const [first, , , fourth] = call.parts;
  if (!app) return undefined;
  if (first === "app-manifests") return conversion(call, app);
  const bearer = headers.get("Authorization")?.replace(/^Bearer /, "") ?? "";
  if (first === "installation") {
    if (!call.place.minted.some(({ token }) => token === bearer)) return json(401, { message: "Bad credentials" });
    const seen = pageOf(seenBy(call.place, app), call.query, "per_page");
    return json(200, { total_count: seen.length, repositories: seen.map(shownLikeGithub) });
  }
  if (first !== "app" && fourth !== "installation") return undefined;
  const problem = jwtProblem(app, bearer);
  return problem === null
    ? byJwt(method, call, app, headers)
    : json(401, { message: `A JSON web token could not be decoded: ${problem}` });
};
