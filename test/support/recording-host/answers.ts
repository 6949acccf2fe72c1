import type {
  HostedCheckRun,
  HostedHook,
  HostedJob,
  HostedRepository,
  HostSettings,
  MintedToken,
  PostedStatus,
} from "./host-state.ts";

/** The state that the routes of a host use. */
export interface Place {
  settings: Required<HostSettings>;
  hooks: HostedHook[];
  statuses: PostedStatus[];
  /** GitLab's jobs. */
  jobs: HostedJob[];
  minted: MintedToken[];
  checkRuns: HostedCheckRun[];
  /** Ids of the redelivered attempts. */
  ordered: number[];
  /** Redelivers. */
  onOrder?: (attemptId: number) => void;
  /** The address and the secret for the App's deliveries. */
  appHook: { url?: string; secret?: string; content_type?: string };
  /** Scheme, host and path of the API. */
  api: string;
}

export interface Call {
  place: Place;
  /** Parts of the path, decoded. */
  parts: string[];
  query: URLSearchParams;
  // biome-ignore lint/suspicious/noExplicitAny: the checker has seen it
  body: any;
}

export const json = (status: number, value: unknown, headers: Record<string, string> = {}): Response =>
  new Response(status === 204 ? null : JSON.stringify(value), {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });

export const missing = (): Response => json(404, { message: "Not Found" });

export const pageOf = <T>(all: T[], query: URLSearchParams, size: string): T[] => {
  const count = Number(query.get(size) ?? 30);
  return all.slice((Number(query.get("page") ?? 1) - 1) * count).slice(0, count);
};

export const shownLikeGithub = ({ id, fullName, defaultBranch = "main", isPrivate = false }: HostedRepository) => ({
  ...{ id, full_name: fullName, name: fullName.split("/")[1], private: isPrivate, default_branch: defaultBranch },
  clone_url: "https://elsewhere.example/not/used.git",
});

export const byName = ({ settings }: Place, fullName: string): HostedRepository | undefined =>
  settings.repositories.find((one) => one.fullName === fullName);

export const byId = ({ settings }: Place, id: number): HostedRepository | undefined =>
  settings.repositories.find((one) => one.id === id);

/** Registers, changes or removes a hook, in the host's words. */
export const hookCall = (
  { place, body }: Call,
  method: string,
  repository: HostedRepository,
  id: number | null,
  read: (body: Call["body"], before: HostedHook | undefined) => Pick<HostedHook, "url" | "secret" | "events">,
  shown: (hook: HostedHook) => object,
): Response => {
  const own = place.hooks.filter(({ repositoryId }) => repositoryId === repository.id);
  if (method === "GET") return json(200, own.map(shown));
  if (method === "POST") {
    const hook = { id: 900 + place.hooks.length, repositoryId: repository.id, ...read(body, undefined) };
    place.hooks.push(hook);
    return json(201, shown(hook));
  }
  const known = own.find((hook) => hook.id === id);
  if (!known) return missing();
  if (method === "DELETE") {
    place.hooks.splice(place.hooks.indexOf(known), 1);
    return json(204, null);
  }
  Object.assign(known, read(body, known));
  return json(200, shown(known));
};
