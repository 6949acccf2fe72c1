import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface ReceivedRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage["headers"];
  body: Buffer;
}

/** `drop` reads the request and closes the connection without a response. */
export interface StubResponse {
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
  drop?: boolean;
}
export type Script = (request: ReceivedRequest) => StubResponse | Promise<StubResponse>;

export interface StubServer {
  url: string;
  server: Server;
  requests: ReceivedRequest[];
  close(): Promise<void>;
}

/** Starts a real HTTP server with scripted responses, in place of the service. */
export const startStubServer = async (script: Script): Promise<StubServer> => {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = new URL(request.url ?? "/", "http://localhost");
    const received: ReceivedRequest = {
      method: request.method ?? "",
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: Buffer.concat(chunks),
    };
    requests.push(received);
    const reply = await script(received);
    if (reply.drop) return void request.socket.destroy();
    response.writeHead(reply.status ?? 200, { "Content-Type": "application/json", ...reply.headers });
    response.end(reply.body === undefined ? undefined : JSON.stringify(reply.body));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
};
