import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cloneOrigin, sshPlace } from "../../domain/clone-url.ts";
import type { Job } from "../../protocol/jobs.ts";
import type { GitCommandOptions } from "./git.ts";

type Credential = NonNullable<Job["repository"]["credential"]>;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * A credential helper of git's. It is told protocol, host and port it is asked for, and answers for the repository's own
 * alone: not for a submodule, an LFS endpoint or a redirect that leads elsewhere.
 */
const helper = (origin: string): string => {
  const [protocol, host] = origin.split("://");
  return `[ "$1" = get ] || exit 0
asked=$(tr A-Z a-z | grep -E '^(protocol|host)=')
[ "$asked" = ${quoted(`protocol=${protocol}\nhost=${host}`)} ] || exit 0
exec cat "\${0%/*}/answer"
`;
};

/** Stands for ssh, which git gives `[-o OPTION] [-p PORT] [USER@]HOST COMMAND`: another host or port gets no key. */
const sshWithKey = (host: string, port: string): string => `folder=\${0%/*} option='' port='' host=''
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
 * Gives `use` what git needs to answer for the clone credential: files in `folder`, for this user alone, gone
 * when it ends. Nothing of it is in an argument, an address or the environment.
 */
export const withCredential = async <T>(
  credential: Credential | null,
  cloneUrl: string,
  folder: string,
  use: (extra: GitCommandOptions) => Promise<T>,
): Promise<T> => {
  if (credential === null) return use({});
  const closed = mkdtempSync(join(folder, "credential-"));
  const write = (name: string, text: string): string => {
    const path = join(closed, name);
    writeFileSync(path, text, { mode: 0o600 });
    return quoted(path);
  };
  try {
    return await use(
      credential.kind === "token" ? tokenBy(write, credential, cloneUrl) : keyBy(write, credential, cloneUrl),
    );
  } finally {
    rmSync(closed, { recursive: true, force: true });
  }
};

type Write = (name: string, text: string) => string;

/** The user's credential helpers are left out: they would remember a token that is not theirs. Nobody is asked by a prompt. */
const tokenBy = (write: Write, { username, value }: Credential, cloneUrl: string): GitCommandOptions => {
  const [password = ""] = value.split(/[\r\n]/, 1);
  write("answer", `username=${username ?? "x-access-token"}\npassword=${password}\n`);
  const program = write("helper", helper(cloneOrigin(cloneUrl)));
  return { settings: ["credential.helper=", `credential.helper=!sh ${program}`], env: { GIT_ASKPASS: "" } };
};

/** ssh reads no key whose lines end as on Windows, or whose last one does not end. */
const keyBy = (write: Write, { value }: Credential, cloneUrl: string): GitCommandOptions => {
  write("key", `${value.replaceAll("\r\n", "\n").trimEnd()}\n`);
  const { host, port } = sshPlace(cloneUrl);
  const program = write("ssh", sshWithKey(host, port));
  return { env: { GIT_SSH_COMMAND: `sh ${program}`, GIT_SSH_VARIANT: "ssh" } };
};
