import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { randomText } from "../crypto/token.ts";
import type { Local } from "./organization.ts";

const CODE_LENGTH = 32;

/** The cookie that the service gives whoever signs in with the token: the token itself stays here. */
const signIn = async ({ url, token }: Local): Promise<string[]> => {
  const response = await fetch(`${url}/app/sign-in`, {
    ...{ method: "POST", redirect: "manual", headers: { Origin: url }, body: new URLSearchParams({ token }) },
  });
  if (response.status !== 303) throw new Error(`Signing in failed: ${response.status}`);
  return response.headers.getSetCookie();
};

const answer = (response: ServerResponse, status: number, headers: Record<string, string | string[]>, text = "") =>
  response.writeHead(status, { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", ...headers }).end(text);

/**
 * A link that signs its first caller in and is void from then on. It is served by this process on loopback alone:
 * cookies know no ports, so the browser takes the session along to the service on the same host.
 */
export const offerSignIn = async (local: Local): Promise<{ url: string; close(): void }> => {
  const path = `/${randomText(CODE_LENGTH)}`;
  let isUsed = false;
  const server = createServer(async (request, response) => {
    if (request.method !== "GET" || request.url !== path || isUsed) {
      const gone = `This link was used up. Sign in with the token at ${local.url}/app/sign-in\n`;
      answer(response, 410, { "Content-Type": "text/plain" }, gone);
      return;
    }
    isUsed = true;
    try {
      answer(response, 303, { Location: `${local.url}/app/builds`, "Set-Cookie": await signIn(local) });
    } catch {
      answer(response, 502, { "Content-Type": "text/plain" }, `The service at ${local.url} did not let it in.\n`);
    }
  });
  const { hostname } = new URL(local.url);
  server.listen(0, hostname);
  await once(server, "listening");
  server.unref();
  const { port } = server.address() as AddressInfo;
  return { url: `http://${hostname}:${port}${path}`, close: () => server.close() };
};
