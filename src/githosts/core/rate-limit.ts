import type { HostAnswer } from "./host-fetch.ts";

/** An answer of the host, whatever it is. */
export type HostResponse = Exclude<HostAnswer, { unreachable: string }>;

const LIMITED_TEXT = /rate limit|abuse detection/i;

/**
 * Whether the host is asked too often. GitHub says so with 403 as well, for its secondary limits while requests remain:
 * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
 */
export const isLimited = ({ status, headers, body }: HostResponse): boolean => {
  if (status !== 403) return status === 429;
  return headers.has("Retry-After") || headers.get("X-RateLimit-Remaining") === "0" || LIMITED_TEXT.test(body);
};
