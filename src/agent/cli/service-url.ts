import { EXIT, ExitError } from "./exit-codes.ts";

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);

/** The service's address without a trailing slash. Tokens travel to it, so plain http is for this machine only. */
export const serviceUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new ExitError("--url must be an address that begins with https://", EXIT.usage);
  if (url.username || url.password)
    throw new ExitError("--url must have no user name or password in it: the token goes into --token-file", EXIT.usage);
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    throw new ExitError("http:// is allowed to this machine (localhost) only: use https://", EXIT.usage);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
};
