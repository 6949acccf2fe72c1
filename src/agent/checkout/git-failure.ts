import type { JobCredential } from "../../protocol/jobs.ts";
import { BuildFailure } from "../build/failure.ts";

/** Lines of git's message to show. The first lines give the cause, and the last ones the effect. */
const FIRST_LINES = 12;
const LAST_LINES = 4;

/** Kind of the host credential from the service; null without one. */
type CredentialKind = JobCredential["kind"] | null;

/** An address that git's configuration replaced. */
export interface Rewritten {
  from: string;
  to: string;
}

interface Advice {
  pattern: RegExp;
  /** The advice applies only to this kind of credential, or to any kind if omitted. */
  credential?: CredentialKind;
  text: string;
}

const STORE_CREDENTIAL = "store one with PUT /repository/{id}/credential";

/** Advice on git's most common failures, found by git's message. The first match applies. */
const ADVICE: Advice[] = [
  {
    pattern: /No space left on device|Disk quota exceeded/i,
    text: "the agent's disk is full: free some space, or use --work",
  },
  {
    pattern: /'lfs' is not a git command/i,
    text: "git-lfs is not installed on the agent: install it, or remove checkout.lfs",
  },
  {
    pattern:
      /repository corruption|bad object|inflate: data stream error|missing (?:blob|tree|commit)|unable to read tree/i,
    text: "the repository on the host is damaged: run git fsck there, or push the missing objects again",
  },
  {
    pattern: /(?:Load key|identity file).{0,300}(?:invalid format|error in libcrypto|incorrect passphrase|not a key)/i,
    credential: "ssh-key",
    text: "ssh cannot read the stored key: store the whole private key, without a passphrase, with PUT /repository/{id}/credential",
  },
  {
    pattern: /Authentication failed|HTTP Basic: Access denied|returned error: 403/i,
    credential: "token",
    text: "the host rejected the stored credential (it is wrong, expired, or has no access to this repository): replace it with PUT /repository/{id}/credential",
  },
  {
    pattern: /could not read (?:Username|Password)|terminal prompts disabled/i,
    credential: "token",
    text: "a host, port or protocol other than the clone URL's requires a credential; the stored credential is only for the clone URL",
  },
  {
    pattern: /could not read (?:Username|Password)|terminal prompts disabled/i,
    text: `the host requires a credential: ${STORE_CREDENTIAL}, or give the agent's user one`,
  },
  {
    pattern: /Authentication failed|HTTP Basic: Access denied|returned error: 403/i,
    text: `the host rejected the credential of the agent's user: ${STORE_CREDENTIAL}, or replace the user's credential`,
  },
  {
    pattern: /Permission denied \(publickey/i,
    credential: "ssh-key",
    text: "the host rejected the stored key, or is not the clone URL's host: add the public key on the host, or replace the key with PUT /repository/{id}/credential",
  },
  {
    pattern: /Permission denied \(publickey/i,
    text: `the host rejected the agent's SSH keys: ${STORE_CREDENTIAL}, or give the agent's user a key that the host accepts`,
  },
  {
    pattern: /Host key verification failed/i,
    text: "this host's key is not in the known_hosts file of the agent's user: verify the key, then run ssh-keyscan HOST >> ~/.ssh/known_hosts as that user",
  },
  {
    pattern: /batch response|\/info\/lfs|\(missing\)|Object does not exist on the server/i,
    text: "the host has no LFS for this repository, or the file is missing: check LFS on the host, or remove checkout.lfs",
  },
  {
    pattern: /couldn't find remote ref/i,
    text: "the repository has no such branch or tag: push it, or build a different one",
  },
  {
    pattern: /Repository not found|does not appear to be a git repository|not found/i,
    text: "the repository does not exist, or the agent has no access to it: check cloneUrl and the credential",
  },
  {
    pattern: /Could not resolve host/i,
    text: "the agent's machine cannot resolve the host's name: check its network and DNS",
  },
  {
    pattern: /unable to access|Connection (?:refused|timed out|reset)|Could not connect|early EOF/i,
    text: "the agent's machine cannot reach the host: check its network and proxy",
  },
  {
    pattern: /transport '[^']{0,300}' not allowed/i,
    text: "the repository uses a protocol that is not allowed: use https or ssh",
  },
];

/** Removes the user before each host, because settings of git's user may contain a password there. */
const withoutUsers = (text: string): string => text.replaceAll(/:\/\/[^/\s]*@/g, "://");

/** Returns git's message without control characters. Cuts a long message in the middle. */
const shortMessage = (stderr: string): string => {
  const lines = withoutUsers(stderr)
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/[\x00-\x08\x0b-\x1f\x7f]/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const omitted = lines.length - FIRST_LINES - LAST_LINES;
  const messageLines =
    omitted > 0 ? [...lines.slice(0, FIRST_LINES), `(${omitted} more lines)`, ...lines.slice(-LAST_LINES)] : lines;
  return messageLines.join("\n");
};

/** Explains why a stored credential may not apply, because git uses another address than the repository's. */
const rewriting = ({ from, to }: Rewritten): string =>
  withoutUsers(`git's configuration of the agent's user (url.*.insteadOf) rewrites ${from} to ${to}`);

/** Creates the build failure for a failed git command, with advice and git's message. */
export const gitFailure = (
  doing: string,
  stderr: string,
  credential: CredentialKind = null,
  rewritten: Rewritten | null = null,
): BuildFailure => {
  const fits = (advice: Advice): boolean =>
    advice.pattern.test(stderr) && (advice.credential === undefined || advice.credential === credential);
  const message = shortMessage(stderr);
  const parts = [ADVICE.find(fits)?.text, rewritten && rewriting(rewritten), message && `git says:\n${message}`];
  const text = [`${doing} failed`, ...parts].filter(Boolean).join(": ");
  return new BuildFailure("checkout-failed", text);
};
