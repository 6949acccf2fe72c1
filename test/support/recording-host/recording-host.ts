import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { HostKind } from "../../../src/protocol/connection.ts";
import { json, missing, type Place } from "./answers.ts";
import { answerApp, answerGit } from "./github-app.ts";
import type { HostFault, HostSettings, Recorded } from "./host-state.ts";
import { MANNERS } from "./hosts.ts";
import { type RequestChecker, requestChecker } from "./request-checker.ts";

const checkers = new Map<HostKind, RequestChecker>();
const checkerOf = (kind: HostKind): RequestChecker => {
  const checker = checkers.get(kind) ?? requestChecker(kind);
  checkers.set(kind, checker);
  return checker;
};

const LARGE = 10 * 1024 * 1024;

const faulty = (fault: HostFault, url: URL): Response | Promise<Response> => {
  const { answer, headers = {}, body = "" } = fault;
  switch (answer) {
    case "html":
      return new Response("<html>Sign in</html>", { headers: { "Content-Type": "text/html" } });
    case "elsewhere":
      return new Response(null, { status: 301, headers: { Location: "https://thief.example/api" } });
    case "loop":
      return new Response(null, { status: 301, headers: { Location: url.href } });
    case "large":
      return new Response(`[${" ".repeat(LARGE)}]`, { headers: { "Content-Type": "application/json" } });
    case "never":
      return new Promise(() => undefined);
    default:
      return new Response(body, { status: answer, headers });
  }
};

/**
 * A git host that answers as GitHub, GitLab or Gitea would, and records its requests. A request that its API does not
 * describe gets a 400 and has `problems`.
 */
export class RecordingHost {
  readonly requests: Recorded[] = [];
  readonly place: Place;

  constructor(settings: HostSettings) {
    const blank = {
      ...{ account: "builds", scopes: null, mayManageHooks: true, repositories: [], faults: [], app: null },
      ...{ loses: 0, attempts: [], people: {} },
    };
    this.place = {
      settings: { ...blank, ...settings },
      ...{ hooks: [], statuses: [], jobs: [], minted: [], checkRuns: [], ordered: [], appHook: {}, api: "" },
    };
  }

  get settings(): Place["settings"] {
    return this.place.settings;
  }

  async handle(request: Request): Promise<Response> {
    const { kind, token } = this.settings;
    const url = new URL(request.url);
    const manner = MANNERS[kind];
    this.place.api = url.origin + manner.api;
    if (url.pathname.endsWith("/info/refs")) return answerGit(this.place, request.headers);
    if (!url.pathname.startsWith(manner.api)) return new Response("no API here", { status: 404 });
    const path = url.pathname.slice(manner.api.length);
    const { method, headers } = request;
    const text = await request.text();
    const body = text === "" ? undefined : JSON.parse(text);
    const query = url.searchParams;
    const problems = checkerOf(kind)({ method, path, query, body });
    this.requests.push({ method, path, query: url.search, headers: Object.fromEntries(headers), body, problems });
    const fault = this.#faultOf(`${method} ${path}`);
    if (fault) return faulty(fault, url);
    if (problems.length > 0) return json(400, { message: problems.join("; ") });
    const parts = path.slice(1).split("/").map(decodeURIComponent);
    const call = { place: this.place, parts, query, body };
    const byApp = answerApp(method, call, headers);
    if (byApp) return byApp;
    const isMinted = this.place.minted.some((minted) => manner.isToken(headers, minted.token));
    if (!isMinted && !manner.isToken(headers, token)) return json(401, { message: "Bad credentials" });
    const answer = manner.answer(method, call) ?? missing();
    if (method === "GET" || this.settings.loses <= 0) return answer;
    this.settings.loses -= 1;
    return new Response("<h1>Bad gateway</h1>", { status: 502 });
  }

  #faultOf(request: string): HostFault | undefined {
    const fault = this.settings.faults.find(({ on, times = 1 }) => times > 0 && request.startsWith(on));
    if (fault?.times !== undefined) fault.times -= 1;
    return fault;
  }
}

/**
 * Serves a host on this machine. Its address is the `webUrl` of a connection.
 * @param pageFor The pages that the host shows to people, besides its API.
 */
export const listen = async (
  host: RecordingHost,
  pageFor: (request: Request) => Promise<Response | null> = async () => null,
): Promise<{ url: string; close(): void }> => {
  const server: Server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk) => chunks.push(chunk));
    incoming.on("end", async () => {
      const headers = new Headers(incoming.headers as Record<string, string>);
      const { method = "GET" } = incoming;
      const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
      const request = new Request(`http://${incoming.headers.host}${incoming.url}`, { method, headers, body });
      const answer = (await pageFor(request)) ?? (await host.handle(request));
      outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
      outgoing.end(Buffer.from(await answer.arrayBuffer()));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
