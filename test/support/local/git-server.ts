import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { serveGit } from "./git-backend.ts";

export interface GitServer {
  url: string;
  /** The requested paths, and whether each request had the right password. */
  asked: { path: string; isAdmitted: boolean }[];
  close(): Promise<void>;
}

/**
 * Serves the repositories below `root` with `git http-backend`, with basic authentication. `isOld`: protocol version 0.
 */
export const startGitServer = async (
  root: string,
  user: string,
  password: string,
  isOld = false,
): Promise<GitServer> => {
  const wanted = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const asked: GitServer["asked"] = [];

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const isAdmitted = request.headers.authorization === wanted;
    asked.push({ path: request.url ?? "/", isAdmitted });
    if (isAdmitted) void serveGit({ root, user, isOld }, request, response);
    else response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end();
  };

  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, close };
};
