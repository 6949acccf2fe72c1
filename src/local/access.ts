import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { randomText } from "../crypto/token.ts";
import { Client, ServiceProblem } from "./client.ts";

interface LocalAccess {
  url: string;
  orgId: string;
  token: string;
}

const tokenWorks = (url: string, token: string): Promise<boolean> =>
  new Client(url, token).call("GET", "/token/self").then(
    () => true,
    () => false,
  );

/**
 * Returns an admin token of the local organization. This is the saved token, the token of a new organization, or a new
 * token from the operator.
 */
export const openOrganization = async (
  url: string,
  orgId: string,
  operatorToken: string,
  localFile: string,
): Promise<LocalAccess> => {
  if (existsSync(localFile)) {
    const { token } = JSON.parse(readFileSync(localFile, "utf8")) as LocalAccess;
    if (await tokenWorks(url, token)) return { url, orgId, token };
  }
  const operator = new Client(url, operatorToken);
  try {
    const { token } = await operator.call<LocalAccess>("POST", "/organization", { id: orgId, name: "Acme" });
    return { url, orgId, token };
  } catch (error) {
    if (!(error instanceof ServiceProblem) || error.status !== 409) throw error;
    const { token } = await operator.call<LocalAccess>("POST", `/organization/${orgId}/token`);
    return { url, orgId, token };
  }
};

const CODE_LENGTH = 32;

/** Signs in with the token. @returns the session cookies */
const signIn = async ({ url, token }: LocalAccess): Promise<string[]> => {
  const response = await fetch(`${url}/app/sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { Origin: url },
    body: new URLSearchParams({ token }),
  });
  if (response.status !== 303) throw new Error(`Cannot sign in: status ${response.status}`);
  return response.headers.getSetCookie();
};

const answer = (response: ServerResponse, status: number, headers: Record<string, string | string[]>, text = "") =>
  response.writeHead(status, { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", ...headers }).end(text);

/**
 * Serves a link that signs in its first visitor only. This process serves it on loopback, on its own port. Cookies do
 * not depend on the port, so the browser sends the session to the service on the same host.
 */
export const offerSignIn = async (local: LocalAccess): Promise<{ url: string; close(): void }> => {
  const path = `/${randomText(CODE_LENGTH)}`;
  let isUsed = false;
  const server = createServer(async (request, response) => {
    if (request.method !== "GET" || request.url !== path || isUsed) {
      const usedMessage = `This link was already used. Sign in with the token at ${local.url}/app/sign-in\n`;
      answer(response, 410, { "Content-Type": "text/plain" }, usedMessage);
      return;
    }
    isUsed = true;
    try {
      answer(response, 303, { Location: `${local.url}/app`, "Set-Cookie": await signIn(local) });
    } catch {
      answer(response, 502, { "Content-Type": "text/plain" }, `Cannot sign in at ${local.url}.\n`);
    }
  });
  const { hostname } = new URL(local.url);
  server.listen(0, hostname);
  await once(server, "listening");
  server.unref();
  const { port } = server.address() as AddressInfo;
  return { url: `http://${hostname}:${port}${path}`, close: () => server.close() };
};
