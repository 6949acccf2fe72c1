const USER = "[A-Za-z0-9_][A-Za-z0-9_.-]*";
const HOST = "[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?";
const PATH = "[A-Za-z0-9._~!$&'()*+,;=:@%/-]+";

const WITH_SCHEME = new RegExp(
  `^(https|http|ssh)://(?:(${USER})@)?(${HOST}|\\[[0-9A-Fa-f:.]+\\])(?::([0-9]{1,5}))?(/${PATH})$`,
);
const FILE = new RegExp(`^(file)://()()()(/${PATH})$`);
/** `user@host:path`; a host of one letter would be a Windows drive, and `::` calls a remote helper. */
const SCP = new RegExp(`^(?:(${USER})@)?(${HOST}):(?![:-])(${PATH})$`);

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
    return { protocol, user: user || undefined, host: host.toLowerCase(), port, path };
  }
  const [, user, host = "", path = ""] = SCP.exec(url) ?? [];
  const isPath = host.length > 1 && !path.startsWith("//");
  return isPath ? { protocol: "ssh", user, host: host.toLowerCase(), port: undefined, path } : null;
};

/**
 * What keeps an agent's git from being given this address, or null. The scp form (`git@host:owner/repo.git`) counts
 * as ssh; `allowedProtocols` are names like `https`.
 */
export const cloneUrlProblem = (url: string, allowedProtocols: string[]): string | null => {
  const userinfo = /^[a-z]+:\/\/([^/]*)@/i.exec(url)?.[1];
  if (userinfo !== undefined && (userinfo.includes(":") || /^https?:/i.test(url))) return "must not have credentials";
  const parsed = parse(url);
  if (!parsed) return "must have the form https://host/owner/repo.git, ssh://git@host/... or git@host:owner/repo.git";
  if (!allowedProtocols.includes(parsed.protocol)) return `must use one of: ${allowedProtocols.join(", ")}`;
  if (/%(?![0-9A-Fa-f]{2})|%[01][0-9A-Fa-f]|%7[Ff]/.test(parsed.path))
    return "must not have encoded control characters";
  if (parsed.path.split("/").includes("..")) return "must not have .. in its path";
  if (!parsed.path.endsWith(".git")) return "must end in .git";
  return null;
};

/** The host of a valid clone address, in lower case and without port; `localhost` for a local folder. */
export const cloneHost = (url: string): string => parse(url)?.host || "localhost";

/** Whom a credential for a clone address is shown to: protocol, host and port. */
export const cloneOrigin = (url: string): string => {
  const { protocol = "file", host = "", port = "" } = parse(url) ?? {};
  return `${protocol}://${host}${port && `:${port}`}`;
};
