import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cloneHost } from "../domain/clone-url.ts";
import type { Job } from "../protocol/jobs.ts";
import type { GitExtra } from "./git.ts";

type Credential = NonNullable<Job["repository"]["credential"]>;

/** Git names the place it asks for in its prompt: the answer is for the repository's own host, not for a redirect's. */
const askpass = (host: string): string => `#!/bin/sh
folder=\${0%/*}
case "$1" in
  *"://${host}'"* | *"@${host}'"* | *"://${host}:"* | *"@${host}:"*) ;;
  *) exit 1 ;;
esac
case "$1" in
  Username*) exec cat "$folder/username" ;;
  Password*) exec cat "$folder/password" ;;
esac
exit 1
`;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Gives `use` what git needs to answer for the clone credential: files in `folder`, for this user alone, gone
 * when it ends. Nothing of it is in an argument, an address or the environment.
 */
export const withCredential = async <T>(
  credential: Credential | null,
  cloneUrl: string,
  folder: string,
  use: (extra: GitExtra) => Promise<T>,
): Promise<T> => {
  if (credential === null) return use({});
  const closed = mkdtempSync(join(folder, "credential-"));
  try {
    return await use(credential.kind === "token" ? tokenIn(closed, credential, cloneUrl) : keyIn(closed, credential));
  } finally {
    rmSync(closed, { recursive: true, force: true });
  }
};

/** The user's credential helpers are left out: they would remember a token that is not theirs. */
const tokenIn = (folder: string, { username, value }: Credential, cloneUrl: string): GitExtra => {
  const program = join(folder, "askpass");
  writeFileSync(program, askpass(cloneHost(cloneUrl)), { mode: 0o700 });
  writeFileSync(join(folder, "username"), `${username ?? "x-access-token"}\n`, { mode: 0o600 });
  writeFileSync(join(folder, "password"), `${value}\n`, { mode: 0o600 });
  return { settings: ["credential.helper="], env: { GIT_ASKPASS: program } };
};

const keyIn = (folder: string, { value }: Credential): GitExtra => {
  const key = join(folder, "key");
  writeFileSync(key, value.endsWith("\n") ? value : `${value}\n`, { mode: 0o600 });
  return {
    env: { GIT_SSH_COMMAND: `ssh -i ${quoted(key)} -o IdentitiesOnly=yes -o IdentityAgent=none -o BatchMode=yes` },
  };
};
