import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { toBase64 } from "../../src/crypto/encoding.ts";
import { type Arrival, ignored } from "../../src/githosts/core/arrival.ts";
import type { Fields } from "../../src/githosts/core/body.ts";
import { pushArrival } from "../../src/githosts/core/common-events.ts";
import { proves, readDelivery } from "../../src/githosts/core/delivery.ts";
import { BranchName, factsIn, HostId, LineField, optional, Sha } from "../../src/githosts/core/fields.ts";
import type { GitHost, HostAddress, HostClient, RepositoryAtHost } from "../../src/githosts/core/git-host.ts";
import { loadHookMint } from "../../src/githosts/core/hook-address.ts";
import { commitAddress } from "../../src/githosts/core/host-address.ts";
import { ask, encodePath, type HostManner, HostNumber, order } from "../../src/githosts/core/host-api.ts";
import { nextStatus } from "../../src/githosts/core/next-status.ts";
import { postStatus } from "../../src/githosts/core/post-status.ts";
import { withReport } from "../../src/githosts/core/report-status.ts";
import { toStatus } from "../../src/githosts/core/status.ts";
import { readStatusOutcome } from "../../src/githosts/core/status-answers.ts";
import { STATUS_RULES } from "../../src/githosts/core/status-rules.ts";
import { AT_EASE, commitKey } from "../../src/githosts/core/statuses.ts";
import { HOSTS } from "../../src/githosts/hosts.ts";
import type { HostKind } from "../../src/protocol/connection.ts";
import { FullName } from "../../src/protocol/repository.ts";
import { listen, RecordingHost } from "../support/recording-host/recording-host.ts";

/*
 * An invented kind of git host. Its deliveries and their proof are its own, and its API is the recording host's version
 * of Gitea. It shows that a kind is one value with a row in `HOSTS`.
 */

const Push = z.object({
  project: z.pipe(
    z.object({ number: HostId, path: FullName, trunk: optional(BranchName) }),
    z.transform(({ number, path, trunk }) => ({ id: number, fullName: path, defaultBranch: trunk })),
  ),
  by: optional(LineField),
  ref: z.string(),
  from: Sha,
  to: Sha,
});

const readArrival = (event: string, fields: Fields): Arrival => {
  if (event !== "moved") return ignored("This event triggers no build.");
  const facts = factsIn(Push, fields);
  if ("kind" in facts) return facts;
  const { project: repository, by: sender, ref, from: before, to: after } = facts;
  return pushArrival({
    repository,
    sender,
    ref,
    before,
    after,
    forced: null,
    commitSha: null,
    head: null,
    commits: null,
  });
};

const macOf = async (bytes: Uint8Array<ArrayBuffer>, secret: string): Promise<string> => {
  const algorithm = { name: "HMAC", hash: "SHA-512" };
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), algorithm, false, ["sign"]);
  return toBase64(new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes)));
};

const RIGHT = "every right";
const Repository = z.object({ id: HostNumber, full_name: z.string(), private: z.boolean() });
const toRepository = ({ id, full_name, private: isPrivate }: z.infer<typeof Repository>): RepositoryAtHost => ({
  id,
  fullName: full_name,
  defaultBranch: null,
  isPrivate,
});

const toHeaders = (token: string) => ({ Authorization: `token ${token}` });

const cottageClient = ({ apiUrl, token }: HostAddress): HostClient => {
  const manner: HostManner = { name: "Cottage", apiUrl, headers: toHeaders(token) };
  const read = async <T>(path: string, form: z.ZodMiniType<T>): Promise<T> =>
    (await ask(manner, { method: "GET", path, right: RIGHT }, form)).value;
  return {
    account: async () => ({ name: (await read("/user", z.object({ login: z.string() }))).login, scopes: null }),
    repositories: async () => (await read("/user/repos", z.array(Repository))).map(toRepository),
    repositoryById: async (id) => toRepository(await read(`/repositories/${id}`, Repository)),
    repositoryByName: async (fullName) => toRepository(await read(`/repos/${encodePath(fullName)}`, Repository)),
    missing: () => [],
    hooks: async () => [],
    async createHook({ fullName }, { url, secret }) {
      const body = { type: "gitea", active: true, events: ["push"], config: { url, secret, content_type: "json" } };
      const request = { method: "POST", path: `/repos/${encodePath(fullName)}/hooks`, right: RIGHT, body } as const;
      return String((await ask(manner, request, z.object({ id: HostNumber }))).value.id);
    },
    updateHook: async () => {},
    deleteHook: ({ fullName }, id) =>
      order(manner, { method: "DELETE", path: `/repos/${encodePath(fullName)}/hooks/${id}`, right: RIGHT }),
  };
};

const COTTAGE: GitHost = {
  eventHeader: "X-Cottage-What",
  deliveryHeaders: ["X-Cottage-Number"],
  readArrival,
  proves: async (headers, bytes, secret) => headers.get("X-Cottage-Proof") === (await macOf(bytes, secret)),
  hookSecret: (mac) => `cottage-${toBase64(mac)}`,
  apiUrl: (webUrl) => `${webUrl}/api/v1`,
  pageUrl: (repositoryUrl, page) => `${repositoryUrl}?show=${encodeURIComponent(page)}`,
  client: cottageClient,
  statuses: {
    request: ({ fullName, sha, state, description, context }, token) => ({
      method: "POST",
      path: `/repos/${encodePath(fullName)}/statuses/${sha}`,
      headers: toHeaders(token),
      body: { state, description, context },
    }),
    outcome: readStatusOutcome,
    repository: null,
  },
  statusGapMs: 5_000,
  keepsRefsApart: false,
  app: null,
};

const ROWS: Record<string, GitHost> = HOSTS;
/** The compiler treats it as a kind that it knows. */
const KIND = "cottage" as HostKind;
const TOKEN = "token-of-the-cottage";
const SHA = "b".repeat(40);

beforeAll(() => {
  ROWS[KIND] = COTTAGE;
});
afterAll(() => {
  delete ROWS[KIND];
});

const mint = loadHookMint(`k1:${btoa("0123456789abcdef0123456789abcdef")}`);
const HOOK = { orgId: "acme", kind: KIND, connectionId: "01990000-0000-7000-8000-000000000001", generation: 1 };

describe("a fourth kind of git host", () => {
  it("has hooks whose deliveries are verified and read", async () => {
    const { token, secret } = await mint.grant(HOOK);
    expect(secret).toMatch(/^cottage-/);
    const hook = await mint.recognize(token);
    expect(hook).toEqual({ ...HOOK, secret });
    const host = HOSTS[hook!.kind];
    const project = { number: 41, path: "acme/shop", trunk: "main" };
    const body = { project, by: "ada", ref: "refs/heads/main", from: "a".repeat(40), to: SHA };
    const bytes = new Uint8Array(new TextEncoder().encode(JSON.stringify(body)));
    const headers = new Headers({ "X-Cottage-What": "moved", "X-Cottage-Number": "7" });
    expect(await proves(host, headers, bytes, secret)).toBe(false);
    headers.set("X-Cottage-Proof", await macOf(bytes, secret));
    expect(await proves(host, headers, bytes, secret)).toBe(true);
    expect(readDelivery(host, headers, bytes)).toMatchObject({
      id: "7",
      event: "moved",
      arrival: {
        kind: "push",
        repository: { id: 41, fullName: "acme/shop", defaultBranch: "main" },
        ref: "refs/heads/main",
        sha: SHA,
        sender: "ada",
      },
    });
  });

  it("lists its repositories, gets a hook, and gets a status", async () => {
    const settings = { token: TOKEN, repositories: [{ id: 41, fullName: "acme/shop" }] };
    const recording = new RecordingHost({ kind: "gitea", ...settings });
    const served = await listen(recording);
    try {
      const host = HOSTS[KIND];
      const address = { apiUrl: host.apiUrl(served.url), token: TOKEN };
      const client = host.client(address);
      const repository = await client.repositoryById(41);
      expect(repository).toMatchObject({ id: 41, fullName: "acme/shop" });
      const { token, secret } = await mint.grant(HOOK);
      await client.createHook(repository, { url: `https://ci.example/hook/${token}`, secret });
      expect(recording.place.hooks).toMatchObject([{ repositoryId: 41, secret }]);

      const now = Date.now();
      const target = { connectionId: HOOK.connectionId, repoId: 41, fullName: "acme/shop", context: "millrace/ci" };
      const build = { buildId: "b1", number: 1, version: 2, sha: SHA, origin: null };
      const report = { ...target, ...build, state: "success", description: "Succeeded" } as const;
      const commit = withReport(undefined, report, now, STATUS_RULES)!;
      const statuses = {
        commits: new Map([[commitKey(commit), commit]]),
        pace: { ...AT_EASE, sentAt: now },
        inFlight: null,
      };
      expect(nextStatus(statuses, host.statusGapMs, now, STATUS_RULES)).toEqual({ at: now + 5_000 });
      const next = nextStatus(statuses, host.statusGapMs, now + 5_000, STATUS_RULES);
      if (!next || !("due" in next)) throw new Error("no status is due");
      const status = toStatus(next.due, null, STATUS_RULES);
      const posted = await postStatus({ host, ...address, isApp: false }, status);
      expect(posted.outcome.kind).toBe("told");
      expect(recording.place.statuses).toMatchObject([{ repositoryId: 41, sha: SHA, body: { state: "success" } }]);
      expect(recording.requests.flatMap(({ problems }) => problems)).toEqual([]);
    } finally {
      served.close();
    }
  });

  it("has its own pages", () => {
    expect(commitAddress(KIND, "https://cottage.example/", "acme/shop", SHA)).toBe(
      `https://cottage.example/acme/shop?show=commit%2F${SHA}`,
    );
  });

  it("does not compile without its rows and all of its parts", () => {
    type Kinds = HostKind | "cottage";
    // @ts-expect-error The kind has no row in HOSTS.
    const hosts: Record<Kinds, GitHost> = HOSTS;
    // @ts-expect-error It has no words in the dashboard.
    type Words = Pick<typeof import("../../src/dashboard/connections/git-hosts.tsx").GIT_HOSTS, Kinds>;
    const { statuses, ...silent } = COTTAGE;
    // @ts-expect-error It cannot get a status.
    const host: GitHost = silent;
    expect({ hosts, host, statuses, words: null as Words | null }).toBeDefined();
  });
});
