import { execFileSync, spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

export interface GitServer {
  url: string;
  /** The requested paths, and whether each request had the right password. */
  asked: { path: string; isAdmitted: boolean }[];
  close(): Promise<void>;
}

/** Serves the repositories below `root` by `git http-backend`, with basic authentication. `isOld`: protocol version 0. */
export const startGitServer = async (
  root: string,
  user: string,
  password: string,
  isOld = false,
): Promise<GitServer> => {
  const backend = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend");
  const wanted = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const asked: GitServer["asked"] = [];

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const { pathname, search } = new URL(request.url ?? "/", "http://localhost");
    const isAdmitted = request.headers.authorization === wanted;
    asked.push({ path: pathname + search, isAdmitted });
    if (!isAdmitted) {
      response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end();
      return;
    }
    const child = spawn(backend, [], {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: "1",
        PATH_INFO: pathname,
        REQUEST_METHOD: request.method,
        QUERY_STRING: search.slice(1),
        REMOTE_USER: user,
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
        GIT_PROTOCOL: isOld ? "" : String(request.headers["git-protocol"] ?? ""),
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "safe.directory",
        GIT_CONFIG_VALUE_0: "*",
      },
    });
    request.pipe(child.stdin);
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.on("close", () => {
      const whole = Buffer.concat(chunks);
      const end = whole.indexOf("\r\n\r\n");
      const headers = whole.subarray(0, end).toString().split("\r\n");
      for (const header of headers) {
        const [name = "", value = ""] = header.split(/: (.*)/s);
        if (name === "Status") response.statusCode = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.end(whole.subarray(end + 4));
    });
  };

  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, close };
};
