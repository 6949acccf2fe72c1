import { type ApiAnswer, type ApiRoutes, type HostState, NOT_FOUND, pageOf } from "../host-state.ts";
import type { HostedRepository } from "../hosted-repository.ts";

interface Words {
  /** Of the page's length in a query. */
  limit: string;
  /** Headers that tell of the token. */
  account: Record<string, string>;
  repository(repository: HostedRepository): unknown;
  /** The words in which a hook is asked for are those in which it is told. */
  hookEvents(body: { events: string[] }): string[];
  states: string[];
}

/** What the APIs of GitHub and Gitea have in common: a repository is named by its owner and its name. */
export const ownerAndNameRoutes = (host: HostState, words: Words): ApiRoutes => {
  const named = (owner = "", name = "") =>
    host.repositories.find(({ fullName }) => fullName.toLowerCase() === `${owner}/${name}`.toLowerCase());
  const inRepository =
    (handle: (repository: HostedRepository, request: Parameters<ApiRoutes[0][1]>[0], rest: string[]) => ApiAnswer) =>
    (request: Parameters<ApiRoutes[0][1]>[0], [owner, name, ...rest]: string[]): ApiAnswer => {
      const repository = named(owner, name);
      return repository ? handle(repository, request, rest) : NOT_FOUND;
    };
  const hookOf = ({ id, url, events }: HostedRepository["hooks"][0]) => ({
    id,
    type: "Repository",
    name: "web",
    active: true,
    events,
    config: { url, content_type: "json", insecure_ssl: "0" },
  });
  return [
    [/^GET \/user$/, () => ({ status: 200, headers: words.account, body: { id: 1, login: host.account } })],
    [
      /^GET \/user\/repos$/,
      ({ query }) => ({ status: 200, body: pageOf(host.repositories, query, words.limit).map(words.repository) }),
    ],
    [
      /^GET \/repositories\/(\d+)$/,
      (_, [id]) => {
        const found = host.repositories.find((one) => one.id === Number(id));
        return found ? { status: 200, body: words.repository(found) } : NOT_FOUND;
      },
    ],
    [/^GET \/repos\/([^/]+)\/([^/]+)$/, inRepository((one) => ({ status: 200, body: words.repository(one) }))],
    [/^GET \/repos\/([^/]+)\/([^/]+)\/hooks$/, inRepository((one) => ({ status: 200, body: one.hooks.map(hookOf) }))],
    [
      /^POST \/repos\/([^/]+)\/([^/]+)\/hooks$/,
      inRepository((one, { body }) => {
        const { url, secret } = body.config;
        const hook = { id: host.nextId(), url, secret, events: words.hookEvents(body) };
        one.hooks.push(hook);
        return { status: 201, body: hookOf(hook) };
      }),
    ],
    [
      /^PATCH \/repos\/([^/]+)\/([^/]+)\/hooks\/(\d+)$/,
      inRepository((one, { body }, [id]) => {
        const hook = one.hooks.find((known) => known.id === Number(id));
        if (!hook) return NOT_FOUND;
        Object.assign(hook, { url: body.config.url, secret: body.config.secret, events: words.hookEvents(body) });
        return { status: 200, body: hookOf(hook) };
      }),
    ],
    [
      /^DELETE \/repos\/([^/]+)\/([^/]+)\/hooks\/(\d+)$/,
      inRepository((one, _, [id]) => {
        const at = one.hooks.findIndex((known) => known.id === Number(id));
        if (at >= 0) one.hooks.splice(at, 1);
        return at < 0 ? NOT_FOUND : { status: 204 };
      }),
    ],
    [
      /^POST \/repos\/([^/]+)\/([^/]+)\/statuses\/([0-9a-f]{40})$/,
      inRepository((repository, { body }, [sha = ""]) => {
        const { state, context = "default", description = "", target_url: targetUrl = "" } = body;
        if (!words.states.includes(state) || description.length > 140) {
          return { status: 422, body: { message: "Validation Failed" } };
        }
        host.statuses.push({ repository, sha, context, state, description, targetUrl, ref: null });
        return { status: 201, body: { id: host.nextId(), state, context, description, target_url: targetUrl } };
      }),
    ],
  ];
};
