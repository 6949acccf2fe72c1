import { Client } from "../../src/local/client.ts";
import type { AnswerChecker } from "../support/answer-checker.ts";
import type { ServedWorker } from "../support/served-worker.ts";
import type { RequestTemplate, Sender } from "./request-templates.ts";
import { LEASE, OWN_ORG, SOME_ID } from "./values.ts";

/** An answer or a stored row that does not fit the description. */
export interface Finding {
  request: string;
  problem: string;
}

interface Received {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  answer: any;
}

/** Which resource a field's id names. */
const RESOURCE_OF_FIELD: Record<string, string> = {
  repoId: "repository",
  groupId: "groups",
  groupIds: "groups",
  pipelineId: "pipeline",
  defaultPipelineId: "pipeline",
};

/** The resource of a path: its first noun. */
const resourceOfPath = (path: string): string => /^\/(?:secrets\/)?(\w+)/.exec(path)?.[1] ?? "";

const URL_SAFE = /^[\x21-\x7e]*$/;

/** Requests to one organization of its own, one after the other: later ones use ids from earlier answers. */
export class Sequence {
  readonly findings: Finding[] = [];
  readonly statuses = new Map<number, number>();
  /** Operations that succeeded at least once. */
  readonly acceptedOperations = new Set<string>();
  readonly #service: ServedWorker;
  readonly #check: AnswerChecker;
  readonly #orgId: string;
  readonly #tokens: Partial<Record<Sender, string>> = {};
  /** Known ids by resource, the newest last. */
  readonly #ids = new Map<string, string[]>();
  /** Ids of the requests that succeeded, and the records in their answers. */
  readonly #succeeded = new Set<string>();
  readonly #records = new Map<string, string>();
  #lease = "1";

  constructor(service: ServedWorker, check: AnswerChecker, orgId: string) {
    this.#service = service;
    this.#check = check;
    this.#orgId = orgId;
  }

  async setUp(): Promise<void> {
    const { operator } = this.#service;
    const { token } = await operator.call<{ token: string }>("POST", "/organization", {
      id: this.#orgId,
      name: "fuzz",
    });
    this.#tokens.apiToken = token;
    this.#tokens.operatorToken = operator.token;
    const client = new Client(this.#service.url, token);
    const body = { name: "r", kind: "registration", labels: ["a", "b"] };
    this.#tokens.registrationToken = (await client.call<{ token: string }>("POST", "/token", body)).token;
    const repository = { gitHostRepoId: 1, fullName: "a/b", cloneUrl: "https://git.example/a/first.git" };
    const { id: repoId } = await client.call<{ id: string }>("POST", "/repository", repository);
    const pipeline = await client.call<{ id: string }>("POST", "/pipeline", { repoId, name: "ci" });
    const described = { name: "a", platform: 2, canBuildIOS: true, canBuildAndroid: true, canBuildWeb: true };
    const agent = await client.call<{ id: string; token: string }>("POST", "/buildagent/register", described);
    this.#tokens.agentToken = agent.token;
    this.#learnId("buildagent", agent.id);
    this.#learnId("repository", repoId);
    this.#learnId("pipeline", pipeline.id);
  }

  #learnId(kind: string, id: string): void {
    const known = this.#ids.get(kind) ?? [];
    if (!known.includes(id)) known.push(id);
    this.#ids.set(kind, known.slice(-8));
  }

  /** An id of this resource, and in one of twelve turns one of any other. */
  #idOf(kind: string, turn: number): string {
    const all = [...this.#ids.values()].flat();
    const fitting = turn % 12 === 0 ? all : (this.#ids.get(kind) ?? all);
    return fitting[turn % fitting.length] ?? "";
  }

  /** Replaces every placeholder in the value. `turn` decides which known id it gets. */
  #resolve(value: unknown, kind: string, turn: number): unknown {
    if (value === SOME_ID) return this.#idOf(kind, turn);
    if (value === OWN_ORG) return this.#orgId;
    if (value === LEASE) return this.#lease;
    if (Array.isArray(value)) return value.map((inner, at) => this.#resolve(inner, kind, turn + at));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([name, inner], at) => {
      return [name, this.#resolve(inner, RESOURCE_OF_FIELD[name] ?? kind, turn * 7 + at)];
    });
    return Object.fromEntries(entries);
  }

  async send(template: RequestTemplate, turn: number): Promise<void> {
    const { method, sender, operation } = template;
    const kind =
      sender === "agentToken" && template.path.startsWith("/build/") ? "leased" : resourceOfPath(template.path);
    const query = Object.entries(this.#resolve(template.query, kind, turn) as object).map(([name, value]) => {
      return [name, toText(value)];
    });
    const search = query.length > 0 ? `?${new URLSearchParams(query)}` : "";
    const path = template.path.replace("{id}", encodeURI(toText(this.#resolve(template.id, kind, turn)))) + search;
    const token = this.#tokens[sender];
    const sent =
      template.body &&
      ("raw" in template.body ? template.body.raw : JSON.stringify(this.#resolve(template.body.json, kind, turn)));
    const headers: Record<string, string> = sent === null ? {} : { "Content-Type": template.type };
    if (token) headers.Authorization = `Bearer ${token}`;
    for (const [name, value] of Object.entries(this.#resolve(template.headers, kind, turn) as Record<string, string>)) {
      if (URL_SAFE.test(value.replaceAll(" ", ""))) headers[name] = value;
    }
    const body = method === "GET" || method === "DELETE" || sent === null ? undefined : sent;
    const report = (problem: string): void => {
      this.findings.push({ request: `${sender} ${method} ${path} ${sent?.slice(0, 300) ?? ""}`, problem });
    };
    const received = await this.#ask(path, { method, headers, body }).catch((error: Error) =>
      report(`no answer: ${error.cause ?? error}`),
    );
    if (!received) return;
    const { status } = received;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status >= 500) report(`answered ${status}: ${JSON.stringify(received.answer)}`);
    for (const problem of this.#check(operation, status, received.headers, received.answer))
      report(`${status}: ${problem}`);
    await this.#record(template, received);
    if (operation === "deleteConnection" && status < 300) this.#detach(path);
  }

  /** The repositories of a connection that is deleted stay, without it. */
  #detach(path: string): void {
    const id = /\/connection\/([^?/]+)/.exec(path)?.[1];
    for (const [record, fields] of this.#records)
      this.#records.set(record, fields.replace(`["connectionId","${id}"]`, '["connectionId",null]'));
  }

  async #ask(path: string, init: RequestInit): Promise<Received> {
    const response = await fetch(this.#service.url + path, init);
    const text = await response.text();
    const isJson = /[/+]json(?:;|$)/.test(response.headers.get("Content-Type") ?? "");
    return {
      status: response.status,
      headers: response.headers,
      answer: text === "" ? undefined : isJson ? JSON.parse(text) : text,
    };
  }

  async #record(
    { operation, method, sender, path }: RequestTemplate,
    { status, headers, answer }: Received,
  ): Promise<void> {
    if (status === 401 && sender === "apiToken") await this.#replaceAdminToken();
    if (status >= 300) return;
    this.acceptedOperations.add(operation);
    const requestId = headers.get("X-Request-Id") ?? "";
    if (method !== "GET" || AUDITED_READS.includes(operation)) this.#succeeded.add(requestId);
    if (operation === "registerAgent") {
      this.#tokens.agentToken = answer.token;
      this.#ids.set("buildagent", []);
    }
    if (operation === "pollForJob" && answer) {
      this.#lease = String(answer.lease);
      this.#ids.set("leased", [answer.build.id]);
    }
    for (const record of [answer].flat()) {
      if (typeof record?.id !== "string") continue;
      this.#learnId(/\/(build|retry)$/.test(path) ? "build" : resourceOfPath(path), record.id);
      if (["POST", "PUT", "PATCH"].includes(method)) this.#records.set(record.id, ownFields(record));
    }
  }

  /** A request revoked or rotated the admin's token: the operator creates another. */
  async #replaceAdminToken(): Promise<void> {
    const path = `/organization/${this.#orgId}/token`;
    this.#tokens.apiToken = (await this.#service.operator.call<{ token: string }>("POST", path)).token;
  }

  /** Checks that each audit entry and each record since `begun` comes from a request that succeeded. */
  async checkStoredData(begun: string): Promise<void> {
    const { db } = this.#service;
    const report = (problem: string) => this.findings.push({ request: `all of ${this.#orgId}`, problem });
    const { results: audit } = await db
      .prepare("SELECT request_id AS requestId, action FROM audit_log WHERE org_id = ? AND at > ?")
      .bind(this.#orgId, begun)
      .all<{ requestId: string | null; action: string }>();
    for (const { requestId, action } of audit) {
      if (requestId && !this.#succeeded.has(requestId) && !EXPECTED_ACTIONS.has(action)) {
        report(`${action} is in the audit although its request was refused`);
      }
    }
    for (const path of ["/secrets/variables", "/secrets/groups", "/repository", "/pipeline"]) {
      const client = new Client(this.#service.url, this.#tokens.apiToken ?? "");
      const listed = await client
        .call<{ id: string; createdAt: string }[]>(
          "GET",
          `${path}?limit=200${path === "/secrets/variables" ? "&includeInactive=true" : ""}`,
        )
        .catch(() => []);
      for (const record of listed.filter(({ createdAt }) => createdAt > begun)) {
        if (this.#records.get(record.id) !== ownFields(record))
          report(`${path} has a record that no answer had: ${record.id}`);
      }
    }
  }
}

/** Actions of the sequence itself, beside its requests, and of an operator's request in any sequence to all pools. */
const EXPECTED_ACTIONS = new Set(["token.create", "organization.restore"]);

/** A hand-out, the secret of a hook, and an export: reads that leave an entry. */
const AUDITED_READS = ["pollForJob", "showHook", "exportOrganization"];

/** Any value as text. Not by `String()`: an object may have a `toString` that is no function. */
const toText = (value: unknown): string =>
  (typeof value === "object" ? JSON.stringify(value) : String(value)).toWellFormed();

/** The fields of a record that only requests about this record change. */
const ownFields = (record: object): string => {
  const kept = Object.entries(record).filter(
    ([name]) => !/^(lastUsed|variableCount|variables$|defaultPipelineId|hasCredential|updatedAt|warnings)/.test(name),
  );
  return JSON.stringify(kept.sort());
};
