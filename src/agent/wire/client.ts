import { setTimeout as delay } from "node:timers/promises";
import { BOOT_HEADER, LEASE_HEADER } from "../../protocol/jobs.ts";
import { Problem } from "../../protocol/problem.ts";
import { EXIT, ExitError } from "../cli/exit-codes.ts";
import { logger } from "../cli/logger.ts";
import { type BackOff, backOffDelay, DEFAULT_BACK_OFF, retryAfterOf } from "./back-off.ts";

export interface ClientRequest {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  body?: unknown;
  bytes?: Uint8Array;
  lease?: number;
  /** Ends the call, its repeats included, with the signal's reason. */
  signal?: AbortSignal;
  /** Milliseconds one try may take. */
  timeout?: number;
  /** Tries before it gives up; for ever when left out. */
  maxTries?: number;
  /** Other waits between the tries than the client's own. */
  backOff?: BackOff;
}

export interface Answer {
  status: number;
  body: unknown;
  /** Tries that came to nothing before it. */
  failures: number;
}

/** The service did not answer usefully in the tries it was given. */
export class Unreachable extends Error {}

/** The service does not know this agent's token any more. */
export class TokenRefused extends ExitError {
  constructor(url: string) {
    super(
      `${url} does not accept this agent's token: it was removed or its token revoked. ` +
        "Register it again: deregister --local, then register",
      EXIT.notRegistered,
    );
  }
}

export interface ClientOptions {
  url: string;
  token: string;
  /** Names this run of the agent program; only the one that polls has it. */
  bootId?: string;
  backOff?: BackOff;
}

/** A short word on an answer for people: what the service itself says about it, where it says something. */
export const describeAnswer = ({ status, body }: Omit<Answer, "failures">): string => {
  const problem = Problem.safeParse(body);
  if (!problem.success) return `status ${status}`;
  const errors = problem.data.errors?.map((error) => `${error.pointer}: ${error.detail}`) ?? [];
  return [`${status} ${problem.data.title}`, problem.data.detail, ...errors].join("; ");
};

const isTransient = (status: number): boolean => status === 429 || status === 408 || status >= 500;

/**
 * The HTTP side of the wire. Whatever may pass by itself (no connection, a time limit, 429, 5xx) is repeated with
 * growing, jittered waits, or after exactly the time the service asks for; every other answer goes to the caller.
 */
export class Client {
  readonly url: string;
  readonly #token: string;
  readonly #bootId: string | undefined;
  readonly #backOff: BackOff;

  constructor({ url, token, bootId, backOff = DEFAULT_BACK_OFF }: ClientOptions) {
    this.url = url;
    this.#token = token;
    this.#bootId = bootId;
    this.#backOff = backOff;
  }

  /** Headers that say who calls; the hints' WebSocket sends the same. */
  headers(): Record<string, string> {
    return { Authorization: `Bearer ${this.#token}`, ...(this.#bootId && { [BOOT_HEADER]: this.#bootId }) };
  }

  /** @throws Refused on 401, Unreachable when the tries are used up, the signal's reason when it is aborted. */
  async send(call: ClientRequest): Promise<Answer> {
    for (let repeat = 0; ; repeat++) {
      const outcome = await this.#tryOnce(call);
      call.signal?.throwIfAborted();
      if (outcome.trouble === null) {
        if (outcome.answer.status === 401) throw new TokenRefused(this.url);
        return { ...outcome.answer, failures: repeat };
      }
      if (repeat + 1 === call.maxTries) throw new Unreachable(`${this.url}: ${outcome.trouble}`);
      const wait = outcome.retryAfter ?? backOffDelay(repeat, call.backOff ?? this.#backOff, Math.random());
      if (repeat > 0) logger.warn(`${call.method} ${call.path.split("?")[0]}: ${outcome.trouble}; trying again`);
      await delay(wait, undefined, { signal: call.signal }).catch(() => call.signal?.throwIfAborted());
    }
  }

  async #tryOnce(
    call: ClientRequest,
  ): Promise<{ trouble: null; answer: Omit<Answer, "failures"> } | { trouble: string; retryAfter: number | null }> {
    const limit = AbortSignal.timeout(call.timeout ?? 30_000);
    try {
      const response = await fetch(`${this.url}${call.path}`, {
        method: call.method,
        redirect: "manual",
        signal: call.signal ? AbortSignal.any([call.signal, limit]) : limit,
        headers: {
          ...this.headers(),
          ...(call.lease === undefined ? {} : { [LEASE_HEADER]: String(call.lease) }),
          ...(call.bytes ? { "Content-Type": "application/octet-stream" } : {}),
          ...(call.body === undefined ? {} : { "Content-Type": "application/json" }),
        },
        body: call.bytes ?? (call.body === undefined ? undefined : JSON.stringify(call.body)),
      });
      const text = await response.text();
      const answer = { status: response.status, body: parsed(text) };
      if (!isTransient(response.status)) return { trouble: null, answer };
      return {
        trouble: describeAnswer(answer),
        retryAfter: retryAfterOf(response.headers.get("Retry-After"), Date.now()),
      };
    } catch (error) {
      if (limit.aborted) return { trouble: "no answer in time", retryAfter: null };
      return { trouble: `no connection (${causeOf(error)})`, retryAfter: null };
    }
  }
}

/** Our own word for a body that is no JSON is enough: a parser's would quote it. */
const parsed = (text: string): unknown => {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const causeOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.name) : "unknown";
};
