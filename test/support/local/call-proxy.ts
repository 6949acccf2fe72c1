import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/**
 * An HTTP proxy on loopback with which a test stops single calls, on their way to the service or on their answer's way
 * back.
 */
export class CallProxy {
  /** Decides whether a call, named like `POST /path`, reaches the service. Otherwise its connection breaks. */
  passes: (call: string) => boolean = () => true;
  /** Decides whether the answer of a call reaches the caller. Otherwise the connection breaks. */
  returns: (call: string) => boolean = () => true;
  /** Returns the status of the proxy's own answer to a call; null if the service answers. */
  refuses: (call: string) => number | null = () => null;
  readonly #target: number;
  readonly #server = createServer((incoming, response) => this.#pass(incoming, response));
  readonly #open = new Set<Duplex>();

  private constructor(target: number) {
    this.#target = target;
    this.#server.on("connection", (socket) => this.#track(socket));
    this.#server.on("upgrade", (incoming, client, head) => this.#upgrade(incoming, client as Socket, head));
  }

  /** Starts a proxy in front of a port of this machine. */
  static async to(target: number): Promise<CallProxy> {
    const proxy = new CallProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
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
    const call = `${method} ${url}`;
    if (!this.passes(call)) return void incoming.socket.destroy();
    const refused = this.refuses(call);
    if (refused !== null) {
      incoming.resume();
      response.writeHead(refused, { "Content-Type": "application/json" });
      return void incoming.on("end", () => response.end("{}"));
    }
    const sent = request({ host: "127.0.0.1", port: this.#target, method, path: url, headers });
    sent.on("response", (answer) => {
      if (!this.returns(call)) return void incoming.socket.destroy();
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    sent.on("error", () => incoming.socket.destroy());
    response.on("close", () => sent.destroy());
    incoming.pipe(sent);
  }

  #upgrade({ method, url, headers }: IncomingMessage, client: Socket, head: Buffer): void {
    const upstream = connect(this.#target, "127.0.0.1");
    this.#track(upstream);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    upstream.write(`${method} ${url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    upstream.write(head);
    client.pipe(upstream).pipe(client);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  }
}
