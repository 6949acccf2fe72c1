import { execFileSync, spawn } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";

const BACKEND = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend");

interface Backend {
  /** The folder above the repositories. */
  root: string;
  user: string;
  /** Speaks protocol version 0 only. */
  isOld?: boolean;
}

/**
 * Answers a request for a repository with `git http-backend`. @param onDone Called when git has finished, before the
 * answer.
 */
export const serveGit = async (
  { root, user, isOld = false }: Backend,
  request: IncomingMessage,
  response: ServerResponse,
  onDone?: () => void,
): Promise<void> => {
  const { pathname, search } = new URL(request.url ?? "/", "http://localhost");
  const child = spawn(BACKEND, [], {
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
  await new Promise((resolve) => child.on("close", resolve));
  const whole = Buffer.concat(chunks);
  const end = whole.indexOf("\r\n\r\n");
  for (const header of whole.subarray(0, end).toString().split("\r\n")) {
    const [name = "", value = ""] = header.split(/: (.*)/s);
    if (name === "Status") response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  onDone?.();
  response.end(whole.subarray(end + 4));
};
