import { connect, createServer, type Socket } from "node:net";

export interface Proxy {
  port: number;
  /** Closes every connection and rejects new ones, until `mend`. */
  cut(): void;
  mend(): void;
  close(): void;
}

/** Starts a TCP proxy on loopback in front of `target`. */
export const startProxy = (target: number): Promise<Proxy> => {
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const upstream = connect(target, "127.0.0.1");
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  });
  const breakAll = () => {
    for (const socket of open) socket.destroy();
  };
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve({
        port: address && typeof address === "object" ? address.port : 0,
        cut() {
          isCut = true;
          breakAll();
        },
        mend() {
          isCut = false;
        },
        close() {
          breakAll();
          server.close();
        },
      });
    });
  });
};
