import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An HTTP proxy on loopback that counts the transferred bytes of artifacts, and cuts connections at some counts. */
export class CuttingProxy {
  /** Bytes of parts that agents sent, including failed attempts. */
  sent = 0;
  /** Calls that reached the proxy. */
  calls = 0;
  /** Counts of sent bytes at which the proxy cuts the connection that carries them. */
  cuts: number[] = [];
  /** Called once each, after so many sent bytes. */
  readonly at: { bytes: number; act: () => void }[] = [];
  readonly #target: number;
  readonly #server = createServer((incoming, response) => this.#pass(incoming, response));

  constructor(target: number) {
    this.#target = target;
    // Without sockets, agents poll and send heartbeats as requests.
    this.#server.on("upgrade", (_, socket) => socket.destroy());
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #pass(incoming: IncomingMessage, response: ServerResponse): void {
    const { method, url, headers } = incoming;
    this.calls++;
    const sent = request({ host: "127.0.0.1", port: this.#target, method, path: url, headers });
    const cut = (): void => {
      incoming.socket.destroy();
      sent.destroy();
    };
    if (method === "PUT" && url?.includes("/part/")) incoming.on("data", (piece: Buffer) => this.#count(piece, cut));
    sent.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    sent.on("error", cut);
    response.on("close", () => sent.destroy());
    incoming.pipe(sent);
  }

  #count(piece: Buffer, cut: () => void): void {
    this.sent += piece.length;
    if (this.cuts[0] !== undefined && this.sent >= this.cuts[0]) {
      this.cuts.shift();
      cut();
    }
    if (this.at[0] && this.sent >= this.at[0].bytes) this.at.shift()?.act();
  }
}
