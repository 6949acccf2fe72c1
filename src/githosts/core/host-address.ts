import { withoutEnd } from "../../domain/text.ts";
import type { HostKind } from "../../protocol/connection.ts";
import { HOSTS } from "../hosts.ts";
import { encodePath } from "./host-api.ts";

interface Reach {
  /** Protocols that clone addresses may use: where `http` is one of them, so are hosts of this machine. */
  protocols: readonly string[];
  /** Scheme and host of this service. */
  ownOrigin: string;
}

/** The form in which the address of a git host is stored: no slash at its end, the name of the host in lower case. */
export const canonicalHostAddress = (address: string): string =>
  URL.canParse(address) ? withoutEnd(new URL(address).href, "/") : address;

/**
 * Endings of names that only one network knows: what RFC 6761, 6762, 7686, 8375 and 9476 and ICANN set aside, what
 * ICANN will not delegate because so many networks use it, and what routers, Windows and Kubernetes give by default.
 */
const ONE_NETWORK =
  /(?:^|\.)(?:localhost|localdomain|local|internal|home\.arpa|test|invalid|onion|alt|corp|home|mail|lan|intranet|private|svc|cluster)$/;

/** A name that other machines find: not an address, not this machine, not a name of one network only. */
const isPublicName = (host: string): boolean => /^[a-z0-9.-]+\.[a-z][a-z0-9-]*$/.test(host) && !ONE_NETWORK.test(host);

/** Why requests with a token may not go to this address, or to pages below it; null when they may. */
export const hostAddressProblem = (address: string, { protocols, ownOrigin }: Reach): string | null => {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || !/^https?:\/\/[^/\\]/i.test(address)) return "must have the form https://git.example";
  if (url.username !== "" || url.password !== "" || address.includes("@")) return "must not have credentials";
  if (/[?#\\%\s]/.test(address)) return "must be the plain address of the host";
  const isLocalWork = protocols.includes("http");
  if (url.protocol !== "https:" && !isLocalWork) return "must begin with https:";
  if (url.hostname.endsWith(".")) return "must not have a dot at the end of its host";
  // Cloudflare answers for a name on several ports; in local work the ports of one machine are different hosts.
  const own = new URL(ownOrigin);
  const isOwn = isLocalWork ? url.host === own.host : url.hostname === own.hostname;
  if (isOwn) return "must not be the address of this service";
  if (!isLocalWork && !isPublicName(url.hostname)) return "must have the public name of a host";
  return null;
};

/** The address that git clones a repository of the host from. */
export const cloneUrlAt = (webUrl: string, fullName: string): string => `${webUrl}/${fullName}.git`;

const pageAddress = (kind: HostKind, webUrl: string, fullName: string, page: string): string =>
  HOSTS[kind].pageUrl(`${withoutEnd(webUrl, "/")}/${encodePath(fullName)}`, page);

/** The page of a git host that shows what lies between two commits. */
export const compareAddress = (kind: HostKind, webUrl: string, fullName: string, from: string, to: string): string =>
  pageAddress(kind, webUrl, fullName, `compare/${encodeURIComponent(from)}...${encodeURIComponent(to)}`);

/** The page of a git host that shows one commit, and what it changes. */
export const commitAddress = (kind: HostKind, webUrl: string, fullName: string, commitSha: string): string =>
  pageAddress(kind, webUrl, fullName, `commit/${encodeURIComponent(commitSha)}`);
