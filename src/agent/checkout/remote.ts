import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cloneOrigin, sshDestination } from "../../domain/clone-url.ts";
import type { JobCredential } from "../../protocol/jobs.ts";
import { ProcessTree } from "../process/process-tree.ts";
import { type GitCommandOptions, type GitContext, type GitOutput, git } from "./git.ts";
import { gitFailure, type Rewritten } from "./git-failure.ts";

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Returns a git credential helper (gitcredentials(7)). It answers only for the clone URL's protocol, host and port, and
 * not for a submodule, an LFS endpoint or a redirect to another address.
 */
const helperScript = (origin: string): string => {
  const [protocol, host] = origin.split("://");
  return `[ "$1" = get ] || exit 0
asked=$(tr A-Z a-z | grep -E '^(protocol|host)=')
[ "$asked" = ${quoted(`protocol=${protocol}\nhost=${host}`)} ] || exit 0
exec cat "\${0%/*}/answer"
`;
};

/**
 * Returns a script that replaces ssh. Git calls it with `[-o OPTION] [-p PORT] [USER@]HOST COMMAND`. The script gives
 * no key to another host or port.
 */
const sshScript = (host: string, port: string): string => `folder=\${0%/*} option='' port='' host=''
for word in "$@"; do
  case "$option" in
    -p) port=$word option='' ;;
    -o) option='' ;;
    *) case "$word" in
      -*) option=$word ;;
      *) host=\${word##*@}; break ;;
    esac ;;
  esac
done
host=$(printf %s "$host" | tr A-Z a-z)
set -- -o IdentitiesOnly=yes -o IdentityAgent=none -o BatchMode=yes "$@"
[ "$host $port" = ${quoted(`${host} ${port}`)} ] || exec ssh -o IdentityFile=none "$@"
exec ssh -i "$folder/key" "$@"
`;

/**
 * Runs `use` with the git options that supply the clone credential. The credential exists only in temporary files in
 * `folder`, which no other user can read. It is never in an argument, a URL or the environment.
 */
export const withCredential = async <T>(
  credential: JobCredential | null,
  cloneUrl: string,
  folder: string,
  use: (options: GitCommandOptions) => Promise<T>,
): Promise<T> => {
  if (credential === null) return use({});
  const privateFolder = mkdtempSync(join(folder, "credential-"));
  const write = (name: string, text: string): string => {
    const path = join(privateFolder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return quoted(path);
  };
  try {
    return await use(
      credential.kind === "token" ? tokenOptions(write, credential, cloneUrl) : keyOptions(write, credential, cloneUrl),
    );
  } finally {
    rmSync(privateFolder, { recursive: true, force: true });
  }
};

type Write = (name: string, text: string) => string;

/** Disables prompts, and the user's own credential helpers, which would store the token. */
const tokenOptions = (write: Write, { username, value }: JobCredential, cloneUrl: string): GitCommandOptions => {
  const [password = ""] = value.split(/[\r\n]/, 1);
  write("answer", `username=${username ?? "x-access-token"}\npassword=${password}\n`);
  const program = write("helper", helperScript(cloneOrigin(cloneUrl)));
  return { settings: ["credential.helper=", `credential.helper=!sh ${program}`], env: { GIT_ASKPASS: "" } };
};

/**
 * Returns the options for a key. Normalizes its line ends, because ssh accepts neither CRLF nor a missing final line
 * end.
 */
const keyOptions = (write: Write, { value }: JobCredential, cloneUrl: string): GitCommandOptions => {
  write("key", `${value.replaceAll("\r\n", "\n").trimEnd()}\n`);
  const { host, port } = sshDestination(cloneUrl);
  const program = write("ssh", sshScript(host, port));
  return { env: { GIT_SSH_COMMAND: `sh ${program}`, GIT_SSH_VARIANT: "ssh" } };
};

/** A repository at its host, and the local folder for the fetch. */
export interface Remote {
  gitContext: GitContext;
  cloneUrl: string;
  credential: JobCredential | null;
  /** The build's folder, which holds a command's temporary files. Steps cannot read it. */
  tempFolder: string;
}

type ObjectFormat = "sha1" | "sha256";

/** A git command's output, and the other address if git's configuration replaced it. */
interface RemoteOutput extends GitOutput {
  rewritten?: Rewritten | null;
}

/** Requires a successful command. @throws BuildFailure with git's message when it failed */
export const ensureSuccess = (output: RemoteOutput, doing: string, remote?: Remote): GitOutput => {
  if (output.code !== 0) throw gitFailure(doing, output.stderr, remote?.credential?.kind ?? null, output.rewritten);
  return output;
};

/**
 * Creates an empty repository in an empty folder. This needs no job, so the agent creates the repository before a job
 * arrives.
 */
export const initRepository = async (folder: string, format: ObjectFormat = "sha1"): Promise<void> => {
  const gitContext: GitContext = { folder, protocols: [], tree: new ProcessTree("prepare") };
  const options = ["--quiet", ...(format === "sha1" ? [] : [`--object-format=${format}`])];
  ensureSuccess(await git(gitContext, ["init", ...options, "."]), "git init");
};

/** Sets the remote "origin" of the empty repository. */
export const addOrigin = ({ gitContext, cloneUrl }: Remote): void => {
  const url = cloneUrl.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  const section = `[remote "origin"]\n\turl = "${url}"\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`;
  appendFileSync(join(gitContext.folder, ".git/config"), section);
};

/** Recreates the repository for SHA-256, because git cannot change a repository's object format. */
const remakeForSha256 = async (remote: Remote): Promise<void> => {
  rmSync(join(remote.gitContext.folder, ".git"), { recursive: true });
  await initRepository(remote.gitContext.folder, "sha256");
  addOrigin(remote);
};

/** Runs a git command that may send the clone credential to the host. */
export const gitWithCredential = async (
  { gitContext, cloneUrl, credential, ...remote }: Remote,
  args: string[],
): Promise<RemoteOutput> => {
  const output = await withCredential(credential, cloneUrl, remote.tempFolder, (extra) => git(gitContext, args, extra));
  if (output.code === 0) return output;
  const [, from = cloneUrl] = /^fatal: clone of '(.+)' into submodule path/m.exec(output.stderr) ?? [];
  return { ...output, rewritten: await rewrittenAddress(gitContext, from) };
};

/** Returns git's replacement for an address; null without a replacement. */
const rewrittenAddress = async (context: GitContext, from: string): Promise<Rewritten | null> => {
  const rewritten = await git(context, ["ls-remote", "--get-url", "--", from]);
  const to = rewritten.stdout.toString("utf8").trim();
  return rewritten.code === 0 && to !== from ? { from, to } : null;
};

/**
 * The `--depth` for the whole history (git's own constant). Unlike `--unshallow`, it also works for a complete
 * repository.
 */
export const INFINITE_DEPTH = 2_147_483_647;

/**
 * Runs one `git fetch` for `refspecs`. Retries without a depth on "dumb" HTTP servers, which have no shallow clones.
 */
export const fetchRefspecs = async (remote: Remote, range: string[], refspecs: string[]): Promise<RemoteOutput> => {
  const run = (options: string[]): Promise<RemoteOutput> =>
    gitWithCredential(remote, [
      "fetch",
      "--quiet",
      "--force",
      "--no-auto-maintenance",
      ...options,
      "--",
      "origin",
      ...refspecs,
    ]);
  const output = await run(range);
  if (output.code === 0) return output;
  if (/mismatched algorithms/.test(output.stderr)) {
    await remakeForSha256(remote);
    return run(range);
  }
  const isShallow = (option: string): boolean => option.startsWith("--depth=");
  const mayHaveAll = range.some(isShallow) && !range.some((option) => option.startsWith("--filter="));
  return mayHaveAll && /shallow/.test(output.stderr) ? run(range.filter((option) => !isShallow(option))) : output;
};

/** Returns the full name of the repository's default branch; null where the host does not report it. */
export const fetchDefaultBranch = async (remote: Remote): Promise<string | null> => {
  const { code, stdout } = await gitWithCredential(remote, ["ls-remote", "--symref", "--", "origin", "HEAD"]);
  const ref = /^ref: (refs\/heads\/\S{1,400})\tHEAD$/m.exec(stdout.toString("utf8"))?.[1];
  return code === 0 && ref !== undefined ? ref : null;
};
