import { env, exports } from "cloudflare:workers";
import { expect } from "vitest";
import type { Agent } from "../../src/protocol/agent.ts";
import type { Pipeline } from "../../src/protocol/pipeline.ts";
import type { Problem, ProblemKind } from "../../src/protocol/problem.ts";
import type { Repository } from "../../src/protocol/repository.ts";
import type { Role } from "../../src/protocol/token.ts";

export interface Answer<T> {
  status: number;
  headers: Headers;
  body: T;
  text: string;
}

/** Reports whether the text of an answer is one JSON value. Lines of JSON (`application/jsonl`) are not. */
export const isJsonText = (contentType: string | null): boolean => /[/+]json(?:;|$)/.test(contentType ?? "");

/** Sends one request to the API, as any client would. A text as `body` is sent unchanged, anything else as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests look at answers of every shape
export const call = async <T = any>(
  token: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer<T>> => {
  const raw = typeof body === "string" || body instanceof Uint8Array;
  const response = await exports.default.fetch(
    new Request(`https://millrace.test${path}`, {
      method,
      headers: {
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? undefined : raw ? (body as BodyInit) : JSON.stringify(body),
    }),
  );
  const text = await response.text();
  const isJson = isJsonText(response.headers.get("Content-Type")) && text !== "";
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text, text };
};

let count = 0;

/** Creates an organization, and returns its admin's token. */
export const newOrganization = async (): Promise<{ orgId: string; admin: string }> => {
  const orgId = `org-${++count}-${crypto.randomUUID().slice(0, 8)}`;
  const { status, body } = await call(env.OPERATOR_TOKEN ?? "", "POST", "/organization", { id: orgId, name: "Test" });
  expect(status).toBe(201);
  return { orgId, admin: body.token };
};

export const newToken = async (admin: string, role: Role): Promise<string> =>
  (await create(admin, "/token", { name: role, kind: "api", role })).token;

/** Creates a resource. Fails unless the answer is 201. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export const create = async <T = any>(token: string, path: string, body: unknown): Promise<T> => {
  const answer = await call<T>(token, "POST", path, body);
  expect(answer, answer.text).toMatchObject({ status: 201 });
  return answer.body;
};

export const newRepository = (token: string, gitHostRepoId = 1): Promise<Repository> =>
  create(token, "/repository", {
    gitHostRepoId,
    fullName: `acme/app-${gitHostRepoId}`,
    cloneUrl: `https://git.example/acme/app-${gitHostRepoId}.git`,
  });

export const newPipeline = (token: string, repoId: string, more: object = {}): Promise<Pipeline> =>
  create(token, "/pipeline", { repoId, name: "ci", ...more });

export const newAgent = (token: string, more: object = {}): Promise<Agent & { token: string }> =>
  create(token, "/buildagent/register", {
    name: "agent",
    platform: 2,
    canBuildIOS: false,
    canBuildAndroid: false,
    canBuildWeb: true,
    ...more,
  });

/** Asserts a problem of this kind with the answer's own request id. */
export const expectProblem = (answer: Answer<Problem>, status: number, kind: ProblemKind): void => {
  expect(answer, answer.text).toMatchObject({ status, body: { status, type: `/problems/${kind}` } });
  expect(answer.headers.get("Content-Type")).toBe("application/problem+json");
  expect(answer.body.requestId).toBe(answer.headers.get("X-Request-Id"));
};
