import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A name that no resolver knows. An answer from it proves that the request used the proxy. */
export const REGISTRY = "http://registry.invalid";
const REAL = process.env.NPM_CONFIG_REGISTRY ?? "https://registry.npmjs.org";

/** Starts a proxy on loopback. Only the proxy reaches a registry of npm packages. */
export const startNpmProxy = async () => {
  const asked: { url: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(async ({ url = "", headers }, response) => {
    asked.push({ url, headers });
    const path = url.startsWith(`${REGISTRY}/`) ? url.slice(REGISTRY.length) : null;
    const answer = path && (await fetch(REAL.replace(/\/$/, "") + path).catch(() => null));
    if (!answer) return response.writeHead(502).end();
    const bytes = Buffer.from(await answer.arrayBuffer());
    const type = answer.headers.get("Content-Type") ?? "";
    const content = type.includes("json")
      ? bytes.toString().replace(/https:\/\/[^/"]+(?=\/[^"]*\.tgz)/g, REGISTRY)
      : bytes;
    return response.writeHead(answer.status, { "Content-Type": type }).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
};
