import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

const TOKEN = "ghp_the_token_that_this_host_knows";

interface HostHook {
  url: string;
  secret: string;
}

/** A hook's address as the service at `url` has it. */
const deliverTo = async ({ url, secret }: HostHook, event: string, body: object): Promise<Response> => {
  const bytes = JSON.stringify(body);
  const signature = createHmac("sha256", secret).update(bytes).digest("hex");
  return fetch(url, {
    method: "POST",
    body: bytes,
    headers: {
      "Content-Type": "application/json",
      "X-GitHub-Event": event,
      "X-GitHub-Delivery": crypto.randomUUID(),
      "X-Hub-Signature-256": `sha256=${signature}`,
      "X-Gitea-Event": event,
      "X-Gitea-Delivery": crypto.randomUUID(),
      "X-Gitea-Signature": signature,
    },
  });
};

/** A GitHub with these repositories, numbered from 1, on this machine. It takes every hook. */
export const startGitHost = async (names: string[]) => {
  const repositories = names.map((full_name, index) => ({
    ...{ id: index + 1, full_name, default_branch: "main", private: index > 0 },
  }));
  const hooks: HostHook[] = [];
  const answer = async (request: IncomingMessage): Promise<[number, unknown]> => {
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return [401, { message: "Bad credentials" }];
    const path = new URL(request.url ?? "", "http://host").pathname.replace("/api/v3", "");
    if (path === "/user") return [200, { login: "mill-bot" }];
    if (path === "/user/repos") return [200, repositories];
    if (path.endsWith("/hooks") && request.method === "POST") {
      const { config } = JSON.parse(await text(request)) as { config: HostHook };
      return [201, { id: hooks.push(config), active: true, config: { url: config.url } }];
    }
    if (path.endsWith("/hooks")) {
      return [200, hooks.map(({ url }, index) => ({ id: index + 1, active: true, config: { url } }))];
    }
    const found = repositories.find(({ id, full_name }) => path === `/repos/${full_name}` || path === `/repositories/${id}`);
    return found ? [200, found] : [404, { message: "Not Found" }];
  };
  const server = createServer(async (request, response) => {
    const [status, body] = await answer(request);
    response.writeHead(status, { "Content-Type": "application/json", "X-OAuth-Scopes": "repo, admin:repo_hook" });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    token: TOKEN,
    hooks,
    deliver: deliverTo,
    stop: () => new Promise((done) => server.close(done)),
  };
};

export type GitHost = Awaited<ReturnType<typeof startGitHost>>;
