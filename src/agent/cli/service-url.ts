import { withoutEnd } from "../../domain/text-end.ts";
import { EXIT, ExitError } from "./exit-codes.ts";

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);

/** The service's URL without a trailing slash. Tokens are sent to it, so http is allowed to this machine only. */
export const serviceUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new ExitError("--url must be a URL that starts with https://", EXIT.usage);
  if (url.username || url.password)
    throw new ExitError("--url must not contain a user name or password: pass the token with --token-file", EXIT.usage);
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    throw new ExitError("--url may use http:// only for this machine (localhost): use https://", EXIT.usage);
  return withoutEnd(`${url.origin}${url.pathname}`, "/");
};
