import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cloneOrigin, sshDestination } from "../../domain/clone-url.ts";
import type { Job } from "../../protocol/jobs.ts";
import type { GitCommandOptions } from "./git.ts";

type Credential = NonNullable<Job["repository"]["credential"]>;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * A git credential helper (gitcredentials(7)). It answers only for the clone URL's protocol, host and port: not for a
 * submodule, an LFS endpoint or a redirect that points elsewhere.
 */
const helperScript = (origin: string): string => {
  const [protocol, host] = origin.split("://");
  return `[ "$1" = get ] || exit 0
asked=$(tr A-Z a-z | grep -E '^(protocol|host)=')
[ "$asked" = ${quoted(`protocol=${protocol}\nhost=${host}`)} ] || exit 0
exec cat "\${0%/*}/answer"
`;
};

/** Replaces ssh. Git calls it with `[-o OPTION] [-p PORT] [USER@]HOST COMMAND`; another host or port gets no key. */
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
 * Runs `use` with the git options that supply the clone credential. The credential is only in files in `folder`, which
 * no other user can read and which are removed afterwards: never in an argument, a URL or the environment.
 */
export const withCredential = async <T>(
  credential: Credential | null,
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

/** The user's own credential helpers are off, because they would store the token. Prompts are off. */
const tokenOptions = (write: Write, { username, value }: Credential, cloneUrl: string): GitCommandOptions => {
  const [password = ""] = value.split(/[\r\n]/, 1);
  write("answer", `username=${username ?? "x-access-token"}\npassword=${password}\n`);
  const program = write("helper", helperScript(cloneOrigin(cloneUrl)));
  return { settings: ["credential.helper=", `credential.helper=!sh ${program}`], env: { GIT_ASKPASS: "" } };
};

/** ssh cannot read a key with CRLF line ends, or without a line end at the end. */
const keyOptions = (write: Write, { value }: Credential, cloneUrl: string): GitCommandOptions => {
  write("key", `${value.replaceAll("\r\n", "\n").trimEnd()}\n`);
  const { host, port } = sshDestination(cloneUrl);
  const program = write("ssh", sshScript(host, port));
  return { env: { GIT_SSH_COMMAND: `sh ${program}`, GIT_SSH_VARIANT: "ssh" } };
};
