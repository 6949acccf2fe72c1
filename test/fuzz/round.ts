import { Client } from "../../src/local/client.ts";
import type { AnswerChecker } from "../support/answer-checker.ts";
import type { ServedWorker } from "../support/served-worker.ts";
import type { Plan, Sender } from "./requests.ts";
import { LEASE, OWN_ORG, SOME_ID } from "./values.ts";

/** Something the service should not have answered or done. */
export interface Violation {
  request: string;
  what: string;
}

interface Received {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  answer: any;
}

/** What kind of thing a field's id is of. */
const KIND_OF_FIELD: Record<string, string> = {
  ...{ repoId: "repository", groupId: "groups", groupIds: "groups" },
  ...{ pipelineId: "pipeline", defaultPipelineId: "pipeline" },
};

/** What kind of thing a path is about: its noun. */
const kindOfPath = (path: string): string => /^\/(?:secrets\/)?(\w+)/.exec(path)?.[1] ?? "";

const URL_SAFE = /^[\x21-\x7e]*$/;

/** One organization that is sent requests, one after the other, with what it answered to those before. */
export class Round {
  readonly violations: Violation[] = [];
  readonly statuses = new Map<number, number>();
  /** Operations that were obeyed at least once. */
  readonly obeyed = new Set<string>();
  readonly #service: ServedWorker;
  readonly #check: AnswerChecker;
  readonly #orgId: string;
  readonly #tokens: Partial<Record<Sender, string>> = {};
  /** Ids that were answered, by kind, the newest last. */
  readonly #ids = new Map<string, string[]>();
  /** Ids of the requests that were obeyed, and the records they answered with. */
  readonly #obeyed = new Set<string>();
  readonly #records = new Map<string, string>();
  #lease = "1";

  constructor(service: ServedWorker, check: AnswerChecker, orgId: string) {
    this.#service = service;
    this.#check = check;
    this.#orgId = orgId;
  }

  async begin(): Promise<void> {
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
    this.#know("buildagent", agent.id);
    this.#know("repository", repoId);
    this.#know("pipeline", pipeline.id);
  }

  #know(kind: string, id: string): void {
    const known = this.#ids.get(kind) ?? [];
    if (!known.includes(id)) known.push(id);
    this.#ids.set(kind, known.slice(-8));
  }

  /** An id of this kind, now and then one of another. */
  #idOf(kind: string, turn: number): string {
    const all = [...this.#ids.values()].flat();
    const fitting = turn % 12 === 0 ? all : (this.#ids.get(kind) ?? all);
    return fitting[turn % fitting.length] ?? "";
  }

  /** The value with every placeholder replaced. `turn` decides which id is meant. */
  #fill(value: unknown, kind: string, turn: number): unknown {
    if (value === SOME_ID) return this.#idOf(kind, turn);
    if (value === OWN_ORG) return this.#orgId;
    if (value === LEASE) return this.#lease;
    if (Array.isArray(value)) return value.map((inner, at) => this.#fill(inner, kind, turn + at));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([name, inner], at) => {
      return [name, this.#fill(inner, KIND_OF_FIELD[name] ?? kind, turn * 7 + at)];
    });
    return Object.fromEntries(entries);
  }

  async send(plan: Plan, turn: number): Promise<void> {
    const { method, sender, operation } = plan;
    const kind = sender === "agentToken" && plan.path.startsWith("/build/") ? "leased" : kindOfPath(plan.path);
    const query = Object.entries(this.#fill(plan.query, kind, turn) as object).map(([name, value]) => {
      return [name, inAddress(value)];
    });
    const search = query.length > 0 ? `?${new URLSearchParams(query)}` : "";
    const path = plan.path.replace("{id}", encodeURI(inAddress(this.#fill(plan.id, kind, turn)))) + search;
    const token = this.#tokens[sender];
    const sent =
      plan.body && ("raw" in plan.body ? plan.body.raw : JSON.stringify(this.#fill(plan.body.json, kind, turn)));
    const headers: Record<string, string> = sent === null ? {} : { "Content-Type": plan.type };
    if (token) headers.Authorization = `Bearer ${token}`;
    for (const [name, value] of Object.entries(this.#fill(plan.headers, kind, turn) as Record<string, string>)) {
      if (URL_SAFE.test(value.replaceAll(" ", ""))) headers[name] = value;
    }
    const body = method === "GET" || method === "DELETE" || sent === null ? undefined : sent;
    const complain = (what: string): void => {
      this.violations.push({ request: `${sender} ${method} ${path} ${sent?.slice(0, 300) ?? ""}`, what });
    };
    const received = await this.#ask(path, { method, headers, body }).catch((error: Error) =>
      complain(`no answer: ${error.cause ?? error}`),
    );
    if (!received) return;
    const { status } = received;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status >= 500) complain(`answered ${status}: ${JSON.stringify(received.answer)}`);
    for (const what of this.#check(operation, status, received.headers, received.answer))
      complain(`${status}: ${what}`);
    await this.#remember(plan, received);
  }

  async #ask(path: string, init: RequestInit): Promise<Received> {
    const response = await fetch(this.#service.url + path, init);
    const text = await response.text();
    const isJson = response.headers.get("Content-Type")?.includes("json");
    return {
      ...{ status: response.status, headers: response.headers },
      answer: text === "" ? undefined : isJson ? JSON.parse(text) : text,
    };
  }

  async #remember({ operation, method, sender, path }: Plan, { status, headers, answer }: Received): Promise<void> {
    if (status === 401 && sender === "apiToken") await this.#returnToOffice();
    if (status >= 300) return;
    this.obeyed.add(operation);
    const requestId = headers.get("X-Request-Id") ?? "";
    if (method !== "GET" || operation === "pollForJob") this.#obeyed.add(requestId);
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
      this.#know(/\/(build|retry)$/.test(path) ? "build" : kindOfPath(path), record.id);
      if (["POST", "PUT", "PATCH"].includes(method)) this.#records.set(record.id, lasting(record));
    }
  }

  /** The admin's token was revoked or rotated: the operator makes another. */
  async #returnToOffice(): Promise<void> {
    const path = `/organization/${this.#orgId}/token`;
    this.#tokens.apiToken = (await this.#service.operator.call<{ token: string }>("POST", path)).token;
  }

  /** Whether all that is stored came from requests that were obeyed, as they were answered. */
  async end(begun: string): Promise<void> {
    const { db } = this.#service;
    const complain = (what: string) => this.violations.push({ request: `all of ${this.#orgId}`, what });
    const { results: audit } = await db
      .prepare("SELECT request_id AS requestId, action FROM audit WHERE org_id = ? AND at > ?")
      .bind(this.#orgId, begun)
      .all<{ requestId: string | null; action: string }>();
    for (const { requestId, action } of audit) {
      if (requestId && !this.#obeyed.has(requestId) && !OF_THE_OPERATOR.has(action)) {
        complain(`${action} is in the audit, of a request that was refused`);
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
        if (this.#records.get(record.id) !== lasting(record))
          complain(`${path} has what nobody was answered: ${record.id}`);
      }
    }
  }
}

/** Made by the round itself, beside the requests. */
const OF_THE_OPERATOR = new Set(["token.create"]);

/** A value of any shape as text. An object may have a `toString` of its own that is no function. */
const inAddress = (value: unknown): string =>
  (typeof value === "object" ? JSON.stringify(value) : String(value)).toWellFormed();

/** What of a record changes only by a request about itself. */
const lasting = (record: object): string => {
  const kept = Object.entries(record).filter(
    ([name]) => !/^(lastUsed|variableCount|variables$|defaultPipelineId|hasCredential|updatedAt|warnings)/.test(name),
  );
  return JSON.stringify(kept.sort());
};
