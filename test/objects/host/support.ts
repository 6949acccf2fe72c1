import { env } from "cloudflare:test";
import { vi } from "vitest";
import { loadKeyring } from "../../../src/crypto/keyring.ts";
import { gitHostName } from "../../../src/domain/durable-objects.ts";
import { connectionContext } from "../../../src/domain/seal-context.ts";
import type { HostReport } from "../../../src/githosts/core/host-report.ts";
import type { GitHostObject } from "../../../src/objects/host/git-host.ts";
import type { HostKind } from "../../../src/protocol/connection.ts";
import { HOST_TOKEN } from "../../support/host-at.ts";

const API_PATHS: Record<HostKind, string> = { github: "/api/v3", gitlab: "/api/v4", gitea: "/api/v1" };

export const SHA = "5".repeat(40);

export const sealedToken = (
  row: { id: string; kind: string; apiUrl: string; auth?: string },
  token: string,
): Promise<string> =>
  loadKeyring(env.SECRETS_KEYS).seal(token, connectionContext({ auth: "token", ...row, sealedVersion: 1 }));

/** Creates a connection in D1, and the object that speaks with its host. */
export const newConnection = async (
  kind: HostKind,
  webUrl: string,
  over: {
    id?: string;
    orgId?: string;
    auth?: string;
    isActive?: number;
    secret?: string;
    installationId?: string;
  } = {},
) => {
  const { id = crypto.randomUUID(), orgId = "acme" } = over;
  const apiUrl = `${webUrl}${API_PATHS[kind]}`;
  const sealed = await sealedToken({ id, kind, apiUrl, auth: over.auth ?? "token" }, over.secret ?? HOST_TOKEN);
  await env.DB.prepare(
    `INSERT INTO connection (id, org_id, kind, name, web_url, api_url, clone_origin, auth, client_id,
       installation_id, sealed, sealed_version, is_active, created_at, updated_at)
     VALUES (?, ?, ?, 'host', ?, ?, ?, ?, ?, ?, ?, 1, ?, '', '')`,
  )
    .bind(
      ...[id, orgId, kind, webUrl, apiUrl, webUrl, over.auth ?? "token"],
      ...["Iv23client", over.installationId ?? null, sealed, over.isActive ?? 1],
    )
    .run();
  const host = (env.GIT_HOST as DurableObjectNamespace<GitHostObject>).getByName(gitHostName(orgId, id));
  return { id, kind, apiUrl, host };
};

/** Returns a pool's report about a build. */
export const reportOf = (over: Partial<HostReport> = {}): HostReport => ({
  ...{ connectionId: "c", repoId: 41, fullName: "acme/shop", context: "millrace/test", origin: "https://ci.example" },
  ...{ buildId: "build-1", number: 1, version: 1, sha: SHA, ref: "trunk", state: "pending" },
  ...{ description: "Waits for an agent", ...over },
});

/** Milliseconds: so far ahead that no alarm fires by itself. */
const FAR = 60 * 60_000;
let ahead = 0;
const realNow = Date.now.bind(Date);

const realTimeout = globalThis.setTimeout;
/** Maximum pause of the object between two requests. Its timeout for a host is longer. */
const LONGEST_PAUSE = 1_000;

/** Sets the service's clock ahead, by an hour at least; it still moves. Its pauses end at once. */
export const passTime = (milliseconds: number): void => {
  ahead = Math.max(ahead, FAR) + milliseconds;
  vi.spyOn(Date, "now").mockImplementation(() => realNow() + ahead);
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((act: () => void, wait = 0) => {
    if (wait > LONGEST_PAUSE) return realTimeout(act, wait);
    ahead += wait;
    return realTimeout(act, 0);
  }) as typeof setTimeout);
};

export const setClockRight = (): void => {
  ahead = 0;
  vi.restoreAllMocks();
};
