const USER = "[A-Za-z0-9_][A-Za-z0-9_.-]*";
const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
const HOST = `(?:${LABEL}\\.)*${LABEL}`;
const PATH = "[A-Za-z0-9._~!$&'()*+,;=:@%/-]+";

const WITH_SCHEME = new RegExp(
  `^(https|http|ssh)://(?:(${USER})@)?(${HOST}|\\[[0-9A-Fa-f:.]+\\])(?::([0-9]{1,5}))?(/${PATH})$`,
);
const FILE = new RegExp(`^(file)://()()()(/${PATH})$`);
/**
 * An address of the form `user@host:path`. A host of one letter would be a Windows drive, and `::` calls a remote
 * helper.
 */
const SCP = new RegExp(`^(?:(${USER})@)?(${HOST}):(?![:-])(${PATH})$`);
/** Names of schemes. Before a single colon they are a typing mistake, not a host. */
const SCHEME = /^(?:https?|ssh|git|file|ftps?)$/i;

/** Hosts whose clone addresses end in .git, with the number of path segments of a repository; null means any number. */
const KNOWN_HOSTS: Record<string, number | null> = {
  "github.com": 2,
  "bitbucket.org": 2,
  "codeberg.org": 2,
  "gitlab.com": null,
};

interface CloneUrl {
  protocol: string;
  user: string | undefined;
  host: string;
  port: string | undefined;
  path: string;
}

const parse = (url: string): CloneUrl | null => {
  const full = WITH_SCHEME.exec(url) ?? FILE.exec(url);
  if (full) {
    const [, protocol = "", user, host = "", port, path = ""] = full;
    return { protocol, user: user || undefined, host: host.toLowerCase(), port: port || undefined, path };
  }
  const [, user, host = "", path = ""] = SCP.exec(url) ?? [];
  const isPath = host.length > 1 && !SCHEME.test(host) && !path.startsWith("//");
  return isPath ? { protocol: "ssh", user, host: host.toLowerCase(), port: undefined, path } : null;
};

const knownNames = ({ host }: CloneUrl): number | null | undefined =>
  Object.hasOwn(KNOWN_HOSTS, host) ? KNOWN_HOSTS[host] : undefined;

/**
 * Returns the stored form of an address. It has no user name before an https host and no slashes at its end, and has
 * .git for hosts that use it. Returns other text unchanged.
 */
export const canonicalCloneUrl = (url: string): string => {
  const bare = url.replace(/^(https?:\/\/)[^/:@]*@/, "$1").replace(/(?<=[^/:])\/+$/, "");
  const parsed = parse(bare);
  return parsed && knownNames(parsed) !== undefined && !parsed.path.endsWith(".git") ? `${bare}.git` : bare;
};

/** Reports whether the address is a web page about the repository, copied from a browser. */
const isPage = (parsed: CloneUrl): boolean => {
  const names = parsed.path.split("/").filter((name) => name !== "");
  const nameCount = knownNames(parsed) ?? names.length;
  return names.includes("-") || names.length !== nameCount;
};

/**
 * Returns why an agent's git may not clone from this address; null if git may. The scp form (`git@host:owner/repo.git`)
 * counts as ssh. `allowedProtocols` are names such as `https`.
 */
export const cloneUrlProblem = (url: string, allowedProtocols: string[]): string | null => {
  const userinfo = /^[a-z]+:\/\/([^/]*)@/i.exec(url)?.[1];
  if (userinfo !== undefined && (userinfo.includes(":") || /^https?:/i.test(url))) return "must not have credentials";
  const parsed = parse(url);
  if (!parsed) return "must have the form https://host/owner/repo.git, ssh://git@host/... or git@host:owner/repo.git";
  if (!allowedProtocols.includes(parsed.protocol)) return `must use one of: ${allowedProtocols.join(", ")}`;
  const { host, port = "1", path } = parsed;
  if (Number(port) < 1 || Number(port) > 65_535) return "must have a port from 1 to 65535";
  if (host && !URL.canParse(`https://${host}`)) return "must have a host name or address";
  if (/%(?![0-9A-Fa-f]{2})|%[01][0-9A-Fa-f]|%7[Ff]/.test(path)) return "must not have encoded control characters";
  if (path.split("/").includes("..")) return "must not have .. in its path";
  if (path.endsWith("/")) return "must not end in /";
  if (isPage(parsed)) return "must be the address of the repository itself, not of a page in it";
  return null;
};

/** Returns the host of a valid clone address, in lower case and without a port; `localhost` for a local folder. */
export const cloneHost = (url: string): string => parse(url)?.host || "localhost";

/** Returns protocol, host and port: the server that receives the credential for this clone address. */
export const cloneOrigin = (url: string): string => {
  const { protocol = "file", host = "", port = "" } = parse(url) ?? {};
  return `${protocol}://${host}${port && `:${port}`}`;
};

/** Returns host and port for ssh's command line. If the address has no port, ssh chooses one. */
export const sshDestination = (url: string): { host: string; port: string } => {
  const { host = "", port = "" } = parse(url) ?? {};
  return { host: host.replace(/^\[|\]$/g, ""), port };
};
