import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/** An HTTP proxy on loopback that counts the calls and sockets that it forwards. */
export class CountingProxy {
  /** The service's port; null while the service is down: connections then break. */
  target: number | null = null;
  /** Times of the calls that reached the service, by performance.now. */
  calls: number[] = [];
  /** Long polls that the service has not answered yet. */
  pendingPolls = 0;
  readonly #server = createServer((incoming, response) => this.#pass(incoming, response));
  readonly #open = new Set<Duplex>();

  async listen(): Promise<string> {
    this.#server.on("connection", (socket) => this.#track(socket));
    this.#server.on("upgrade", (incoming, client, head) => this.#upgrade(incoming, client as Socket, head));
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
  }

  #track(socket: Duplex): void {
    this.#open.add(socket);
    socket.on("close", () => this.#open.delete(socket));
    socket.on("error", () => socket.destroy());
  }

  #pass(incoming: IncomingMessage, response: ServerResponse): void {
    const { method, url, headers } = incoming;
    if (this.target === null) return void incoming.socket.destroy();
    this.calls.push(performance.now());
    const isPoll = url?.includes("/poll?wait=") && !url.endsWith("wait=0");
    if (isPoll) this.pendingPolls++;
    const sent = request({ host: "127.0.0.1", port: this.target, method, path: url, headers });
    sent.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    sent.on("close", () => {
      if (isPoll) this.pendingPolls--;
    });
    sent.on("error", () => incoming.socket.destroy());
    response.on("close", () => sent.destroy());
    incoming.pipe(sent);
  }

  #upgrade({ method, url, headers }: IncomingMessage, client: Socket, head: Buffer): void {
    if (this.target === null) return void client.destroy();
    this.calls.push(performance.now());
    const upstream = connect(this.target, "127.0.0.1");
    this.#track(upstream);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    upstream.write(`${method} ${url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    upstream.write(head);
    client.pipe(upstream).pipe(client);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  }
}
