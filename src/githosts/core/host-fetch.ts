import { LIMITS } from "../../protocol/limits.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import { VERSION } from "../../protocol/version.ts";

/** Milliseconds for a request and its whole answer. */
const PATIENCE_MS = 10 * SECOND_MS;
/**
 * Status codes of redirects that the service follows. A host may redirect once if something moved. These codes keep the
 * method. The other codes lead to a page for people.
 */
const MOVED = new Set([301, 302, 307, 308]);
/** A part of a path that leads to another part of the API. */
const UPWARDS = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

/** One request to the API of a git host. */
export interface HostRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path relative to the API's address. It begins with a slash, and its parts are encoded. */
  path: string;
  /** The request's headers. One of them contains the token, so they never go to another origin. */
  headers: Record<string, string>;
  /** The body, which is sent as JSON. */
  body?: unknown;
}

/** The answer of a git host. Without an answer, the reason in words that contain nothing from the request. */
export type HostAnswer =
  | {
      status: number;
      headers: Headers;
      /** The answer's body, cut at the limit. */
      body: string;
      isCut: boolean;
      /** Whether the host answered at another address on the host, because the resource moved. */
      isMoved: boolean;
    }
  | { unreachable: string };

/**
 * Sends one request to a git host, only to the origin of `apiUrl`. Follows one redirect to the same origin, with the
 * same method. Never throws.
 */
export const hostFetch = async (
  apiUrl: string,
  request: HostRequest,
  mostBytes: number = LIMITS.hostAnswerBytes,
): Promise<HostAnswer> => {
  const patience = new AbortController();
  const { signal } = patience;
  // Clear the timer with the answer: a pending timer keeps the calling object awake, which costs money.
  const timer = setTimeout(() => patience.abort(), PATIENCE_MS);
  try {
    const { origin } = new URL(apiUrl);
    const url = new URL(`${apiUrl}${request.path}`);
    if (url.origin !== origin || UPWARDS.test(request.path)) {
      return { unreachable: "the address does not belong to the git host" };
    }
    const first = await send(url, request, signal);
    const next = await redirection(first, url);
    if (!next) return await readAnswer(first, mostBytes, false);
    if (next.origin !== origin) return { unreachable: "it redirects to another host" };
    const second = await send(next, request, signal);
    if (!(await redirection(second, next))) return await readAnswer(second, mostBytes, true);
    return { unreachable: "it redirects too often" };
  } catch {
    return { unreachable: signal.aborted ? "it did not answer within 10 s" : "the connection failed" };
  } finally {
    clearTimeout(timer);
  }
};

const send = (url: URL, { method, headers, body }: HostRequest, signal: AbortSignal): Promise<Response> => {
  const allHeaders = new Headers({ Accept: "application/json", "User-Agent": `millrace/${VERSION}`, ...headers });
  if (body !== undefined) allHeaders.set("Content-Type", "application/json");
  const text = body === undefined ? null : JSON.stringify(body);
  return fetch(url, { method, headers: allHeaders, body: text, redirect: "manual", signal });
};

/** Returns where the answer redirects the request, and cancels the answer's body. */
const redirection = async (answer: Response, from: URL): Promise<URL | null> => {
  const location = answer.headers.get("Location");
  if (!MOVED.has(answer.status) || location === null) return null;
  await answer.body?.cancel();
  return new URL(location, from);
};

const readAnswer = async (answer: Response, mostBytes: number, isMoved: boolean): Promise<HostAnswer> => {
  const { status, headers } = answer;
  const decoder = new TextDecoder();
  const reader = answer.body?.getReader();
  let [body, left, isCut] = ["", mostBytes, false];
  while (reader && !isCut) {
    const { done, value } = await reader.read();
    if (done) break;
    isCut = value.length > left;
    body += decoder.decode(value.subarray(0, left), { stream: true });
    left -= value.length;
  }
  if (isCut) await reader?.cancel();
  return { status, headers, body: body + decoder.decode(), isCut, isMoved };
};

/** An answer of the host with any status. */
export type HostResponse = Exclude<HostAnswer, { unreachable: string }>;

const LIMITED_TEXT = /rate limit|abuse detection/i;

/**
 * Reports whether the host limits our requests. GitHub also answers 403 for its secondary limits while requests remain:
 * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
 */
export const isLimited = ({ status, headers, body }: HostResponse): boolean => {
  if (status !== 403) return status === 429;
  return headers.has("Retry-After") || headers.get("X-RateLimit-Remaining") === "0" || LIMITED_TEXT.test(body);
};
