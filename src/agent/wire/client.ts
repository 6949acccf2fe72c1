import { setTimeout as delay } from "node:timers/promises";
import { BOOT_HEADER, FEATURES, FEATURES_HEADER, LEASE_HEADER } from "../../protocol/jobs.ts";
import { Problem } from "../../protocol/problem.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import { XCODES_HEADER } from "../../protocol/xcodes.ts";
import { EXIT, ExitError } from "../cli/exit-codes.ts";
import { logger } from "../cli/logger.ts";
import { parseJson } from "../parse-json.ts";
import { type BackOff, DEFAULT_BACK_OFF, parseRetryAfter, retryDelay } from "./back-off.ts";

export interface ApiRequest {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  body?: unknown;
  bytes?: Uint8Array;
  lease?: number;
  headers?: Record<string, string>;
  /** Ends the call and its retries with the signal's reason. */
  signal?: AbortSignal;
  /** Maximum milliseconds of one try. */
  timeout?: number;
  /** Maximum tries before `send` throws Unreachable. By default, there is no limit. */
  maxTries?: number;
  /** Replaces the client's own waits between tries. */
  backOff?: BackOff;
  /** Whether the service may keep the call waiting. A stopping service cuts all such calls at once. */
  isLongPoll?: boolean;
  /** Returns the rejection for an organization's limit as an answer, because retries cannot outlast the limit. */
  endsAtLimit?: boolean;
}

export interface ApiAnswer {
  status: number;
  body: unknown;
  /** The number of tries that failed before this answer. */
  failures: number;
}

/** Every try failed: there was no connection, no answer in time, or only an answer that requires a retry. */
export class Unreachable extends Error {}

/** The service no longer accepts this agent's token. */
export class TokenRefused extends ExitError {
  constructor(url: string) {
    super(
      `${url} does not accept this agent's token: the agent was removed, or its token was revoked. ` +
        "Register it again: run deregister --local, then register",
      EXIT.notRegistered,
    );
  }
}

interface ClientOptions {
  url: string;
  token: string;
  /** Random id of this run of the program. Only the polling client sends it, together with the program's features. */
  bootId?: string;
  /** The Xcode versions on this machine. */
  xcodes?: readonly string[];
  backOff?: BackOff;
}

/** Returns an answer in one line for people: the service's problem title and detail, or only the status. */
export const describeAnswer = ({ status, body }: Omit<ApiAnswer, "failures">): string => {
  const problem = Problem.safeParse(body);
  if (!problem.success) return `status ${status}`;
  const errors = problem.data.errors?.map((error) => `${error.pointer}: ${error.detail}`) ?? [];
  return [`${status} ${problem.data.title}`, problem.data.detail, ...errors].join("; ");
};

/**
 * Returns the service's problem with a line for each mistake. `place` precedes the position in a text that the agent
 * sent.
 */
export const problemsIn = (answer: Omit<ApiAnswer, "failures">, place = ""): string => {
  const problem = Problem.safeParse(answer.body);
  if (!problem.success) return describeAnswer(answer);
  const { detail, errors = [] } = problem.data;
  return errors.length === 0
    ? detail
    : errors.map(({ detail }) => `${/^\d+:/.test(detail) ? place : ""}${detail}`).join("\n");
};

/** A failed try that took this many milliseconds was waiting at the service. The service did not reject it. */
const WAITED_MS = SECOND_MS;
const isLong = (started: number): boolean => performance.now() - started >= WAITED_MS;

const isTransient = (status: number): boolean => status === 429 || status === 408 || status >= 500;

const isAtLimit = ({ status, body }: Omit<ApiAnswer, "failures">): boolean =>
  status === 429 && (Problem.safeParse(body).data?.type ?? "").endsWith("/limit-reached");

/**
 * HTTP client for the service. Retries after temporary failures (no connection, no answer in time, 408, 429, 5xx) with
 * exponential backoff and jitter, or after the time in Retry-After. Returns every other answer.
 */
export class ApiClient {
  readonly url: string;
  readonly #token: string;
  readonly #bootId: string | undefined;
  readonly #xcodes: readonly string[];
  readonly #backOff: BackOff;

  constructor({ url, token, bootId, xcodes = [], backOff = DEFAULT_BACK_OFF }: ClientOptions) {
    this.url = url;
    this.#token = token;
    this.#bootId = bootId;
    this.#xcodes = xcodes;
    this.#backOff = backOff;
  }

  get bootId(): string | undefined {
    return this.#bootId;
  }

  /** Returns the headers that authenticate the agent. The hint socket sends the same. */
  headers(): Record<string, string> {
    const ofMachine: Record<string, string> = this.#xcodes.length > 0 ? { [XCODES_HEADER]: this.#xcodes.join() } : {};
    const ofProgram = this.#bootId && { [BOOT_HEADER]: this.#bootId, [FEATURES_HEADER]: FEATURES.join(), ...ofMachine };
    return { Authorization: `Bearer ${this.#token}`, ...ofProgram };
  }

  /**
   * Sends a call.
   * @throws TokenRefused on 401, Unreachable after the last try, the signal's reason when it is aborted
   */
  async send(call: ApiRequest): Promise<ApiAnswer> {
    for (let retry = 0; ; retry++) {
      const outcome = await this.#tryOnce(call);
      call.signal?.throwIfAborted();
      if (outcome.error === null) {
        if (outcome.answer.status === 401) throw new TokenRefused(this.url);
        return { ...outcome.answer, failures: retry };
      }
      if (retry + 1 === call.maxTries) throw new Unreachable(`${this.url}: ${outcome.error}`);
      const isCut = outcome.isCut && call.isLongPoll === true;
      const backOff = call.backOff ?? this.#backOff;
      const wait = retryDelay({ retry, retryAfter: outcome.retryAfter, isCut, backOff, random: Math.random() });
      if (retry > 0) logger.warn(`${call.method} ${call.path.split("?")[0]}: ${outcome.error}; retrying`);
      await delay(wait, undefined, { signal: call.signal }).catch(() => call.signal?.throwIfAborted());
    }
  }

  async #tryOnce(
    call: ApiRequest,
  ): Promise<
    { error: null; answer: Omit<ApiAnswer, "failures"> } | { error: string; retryAfter: number | null; isCut: boolean }
  > {
    const limit = AbortSignal.timeout(call.timeout ?? 30 * SECOND_MS);
    const started = performance.now();
    try {
      const response = await fetch(`${this.url}${call.path}`, {
        method: call.method,
        redirect: "manual",
        signal: call.signal ? AbortSignal.any([call.signal, limit]) : limit,
        headers: {
          ...this.headers(),
          ...(call.lease === undefined ? {} : { [LEASE_HEADER]: String(call.lease) }),
          ...call.headers,
          ...(call.bytes ? { "Content-Type": "application/octet-stream" } : {}),
          ...(call.body === undefined ? {} : { "Content-Type": "application/json" }),
        },
        body: call.bytes ?? (call.body === undefined ? undefined : JSON.stringify(call.body)),
      });
      const text = await response.text();
      const answer = { status: response.status, body: parseJson(text) };
      const isFinal = !isTransient(response.status) || (call.endsAtLimit && isAtLimit(answer));
      if (isFinal) return { error: null, answer };
      return {
        error: describeAnswer(answer),
        retryAfter: parseRetryAfter(response.headers.get("Retry-After"), Date.now()),
        isCut: isLong(started),
      };
    } catch (error) {
      if (limit.aborted) return { error: "no answer in time", retryAfter: null, isCut: false };
      return { error: `no connection (${describeCause(error)})`, retryAfter: null, isCut: isLong(started) };
    }
  }
}

const describeCause = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.name) : "unknown";
};
