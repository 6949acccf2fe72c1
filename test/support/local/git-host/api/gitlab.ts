import { type ApiAnswer, type ApiRequest, type ApiRoutes, type HostState, NOT_FOUND, pageOf } from "../host-state.ts";
import type { HostedRepository } from "../hosted-repository.ts";

const ENDED = new Set(["success", "failed", "canceled", "skipped"]);
const STATES = new Set(["pending", "running", ...ENDED]);

const eventsOf = (body: Record<string, unknown>): string[] =>
  Object.keys(body).filter((name) => name.endsWith("_events") && body[name] === true);

/**
 * Its states are a machine: a job that stands where it is told to go refuses with 400, and a state after the end of a
 * job makes another job, whose last state counts.
 */
const postStatus = (
  host: HostState,
  repository: HostedRepository,
  sha: string,
  { body, query }: ApiRequest,
): ApiAnswer => {
  const told = { ...Object.fromEntries(query), ...body };
  const { state, name, context = name ?? "default", ref = null, description = "", target_url: targetUrl = "" } = told;
  if (!STATES.has(state)) return { status: 400, body: { message: "state does not have a valid value" } };
  const last = host.statuses.findLast(
    (one) => one.repository === repository && one.sha === sha && one.context === context && one.ref === ref,
  );
  if (last && last.state === state && !ENDED.has(state)) {
    return { status: 400, body: { message: `Cannot transition status via :${state} from :${state}` } };
  }
  host.statuses.push({ repository, sha, context, state, description, targetUrl, ref });
  return {
    status: 201,
    body: { id: host.nextId(), sha, ref, status: state, name: context, pipeline_id: repository.id },
  };
};

export const gitlabApi = (host: HostState): ApiRoutes => {
  const projectOf = ({ id, fullName, defaultBranch }: HostedRepository) => ({
    id,
    path_with_namespace: fullName,
    default_branch: defaultBranch,
    visibility: "private",
    http_url_to_repo: `${host.url}/${fullName}.git`,
  });
  const hookOf = ({ id, url, events }: HostedRepository["hooks"][0]) => ({
    id,
    url,
    ...Object.fromEntries(events.map((event) => [event, true])),
    alert_status: "executable",
  });
  const inProject =
    (handle: (repository: HostedRepository, request: ApiRequest, rest: string[]) => ApiAnswer) =>
    (request: ApiRequest, [name, ...rest]: string[]): ApiAnswer => {
      const found = host.repositories.find(({ id, fullName }) => String(id) === name || fullName === name);
      return found ? handle(found, request, rest) : NOT_FOUND;
    };
  return [
    [/^GET \/user$/, () => ({ status: 200, body: { id: 1, username: host.account } })],
    [/^GET \/personal_access_tokens\/self$/, () => ({ status: 200, body: { id: 1, scopes: ["api"] } })],
    [
      /^GET \/projects$/,
      ({ query }) => ({ status: 200, body: pageOf(host.repositories, query, "per_page").map(projectOf) }),
    ],
    [/^GET \/projects\/([^/]+)$/, inProject((one) => ({ status: 200, body: projectOf(one) }))],
    [/^GET \/projects\/([^/]+)\/hooks$/, inProject((one) => ({ status: 200, body: one.hooks.map(hookOf) }))],
    [
      /^POST \/projects\/([^/]+)\/hooks$/,
      inProject((one, { body }) => {
        const hook = { id: host.nextId(), url: body.url, secret: body.token, events: eventsOf(body) };
        one.hooks.push(hook);
        return { status: 201, body: hookOf(hook) };
      }),
    ],
    [
      /^PUT \/projects\/([^/]+)\/hooks\/(\d+)$/,
      inProject((one, { body }, [id]) => {
        const hook = one.hooks.find((known) => known.id === Number(id));
        if (!hook) return NOT_FOUND;
        Object.assign(hook, { url: body.url, secret: body.token, events: eventsOf(body) });
        return { status: 200, body: hookOf(hook) };
      }),
    ],
    [
      /^DELETE \/projects\/([^/]+)\/hooks\/(\d+)$/,
      inProject((one, _, [id]) => {
        const at = one.hooks.findIndex((known) => known.id === Number(id));
        if (at >= 0) one.hooks.splice(at, 1);
        return at < 0 ? NOT_FOUND : { status: 204 };
      }),
    ],
    [
      /^POST \/projects\/([^/]+)\/statuses\/([0-9a-f]{40})$/,
      inProject((one, request, [sha = ""]) => postStatus(host, one, sha, request)),
    ],
  ];
};
