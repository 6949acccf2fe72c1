import { withoutEnd } from "../../domain/text.ts";
import type { HostKind } from "../../protocol/connection.ts";
import { HOSTS } from "../hosts.ts";
import { encodePath } from "./host-api.ts";

interface Reach {
  /** Protocols that clone addresses may use. If `http` is one of them, hosts on this machine are allowed, too. */
  protocols: readonly string[];
  /** Scheme and host of this service. */
  ownOrigin: string;
}

/**
 * Returns the stored form of a git host's address. It has no slash at its end, and the host's name is in lower case.
 */
export const canonicalHostAddress = (address: string): string =>
  URL.canParse(address) ? withoutEnd(new URL(address).href, "/") : address;

/**
 * Endings of names that exist in one network only. RFC 6761, 6762, 7686, 8375 and 9476 and ICANN reserve some of them.
 * ICANN does not delegate others, because so many networks use them. The rest are the defaults of routers, Windows and
 * Kubernetes.
 */
const ONE_NETWORK =
  /(?:^|\.)(?:localhost|localdomain|local|internal|home\.arpa|test|invalid|onion|alt|corp|home|mail|lan|intranet|private|svc|cluster)$/;

/** Matches names that other machines can find. Rejects addresses, this machine, and names of one network only. */
const isPublicName = (host: string): boolean => /^[a-z0-9.-]+\.[a-z][a-z0-9-]*$/.test(host) && !ONE_NETWORK.test(host);

/** Returns why requests with a token must not go to this address, or to pages below it; null if they may go there. */
export const hostAddressProblem = (address: string, { protocols, ownOrigin }: Reach): string | null => {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || !/^https?:\/\/[^/\\]/i.test(address)) return "must have the form https://git.example";
  if (url.username !== "" || url.password !== "" || address.includes("@")) return "must not have credentials";
  if (/[?#\\%\s]/.test(address)) return "must be only the host's address";
  const isLocalWork = protocols.includes("http");
  if (url.protocol !== "https:" && !isLocalWork) return "must begin with https:";
  if (url.hostname.endsWith(".")) return "must not have a dot at the end of its host";
  // Cloudflare answers for a name on several ports. In local work, the ports of one machine are different hosts.
  const own = new URL(ownOrigin);
  const isOwn = isLocalWork ? url.host === own.host : url.hostname === own.hostname;
  if (isOwn) return "must not be the address of this service";
  if (!isLocalWork && !isPublicName(url.hostname)) return "must have a public host name";
  return null;
};

/** Returns the address from which git clones a repository of the host. */
export const cloneUrlAt = (webUrl: string, fullName: string): string => `${webUrl}/${fullName}.git`;

const pageAddress = (kind: HostKind, webUrl: string, fullName: string, page: string): string =>
  HOSTS[kind].pageUrl(`${withoutEnd(webUrl, "/")}/${encodePath(fullName)}`, page);

/** Returns the git host's page that compares two commits. */
export const compareAddress = (kind: HostKind, webUrl: string, fullName: string, from: string, to: string): string =>
  pageAddress(kind, webUrl, fullName, `compare/${encodeURIComponent(from)}...${encodeURIComponent(to)}`);

/** Returns the git host's page that shows one commit and its changes. */
export const commitAddress = (kind: HostKind, webUrl: string, fullName: string, commitSha: string): string =>
  pageAddress(kind, webUrl, fullName, `commit/${encodeURIComponent(commitSha)}`);
