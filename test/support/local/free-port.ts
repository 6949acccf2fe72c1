import { createServer } from "node:net";

/**
 * Each test worker has its own range, below the ephemeral ports, so that parallel test files never use the same port.
 */
const PORTS = 1_000;
const FIRST_PORT = 20_000 + Number(process.env.VITEST_POOL_ID ?? 0) * PORTS;
let next = Math.floor(Math.random() * PORTS);

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = FIRST_PORT + (next++ % PORTS);
    if (await isFree(port)) return port;
  }
};
