import type { Job } from "../../protocol/jobs.ts";
import { BuildFailure } from "../failure.ts";

/** Lines of git's own words that are passed on: the first ones say what went wrong, the last ones what came of it. */
const FIRST_LINES = 12;
const LAST_LINES = 4;

/** What the service gave along for the host, if anything. */
type CredentialKind = NonNullable<Job["repository"]["credential"]>["kind"] | null;

interface Advice {
  words: RegExp;
  /** Holds for these alone; left out: for whatever was given. */
  given?: CredentialKind;
  say: string;
}

const STORE = "store one with PUT /repository/{id}/credential";

/** What a person can do about git's commonest failures, by git's own words for them; the first that fits. */
const ADVICE: Advice[] = [
  {
    words: /No space left on device|Disk quota exceeded/i,
    say: "the agent's disk is full: free some space, or use --work",
  },
  {
    words: /'lfs' is not a git command/i,
    say: "the agent has no git-lfs: install it there, or leave out checkout.lfs",
  },
  {
    words:
      /repository corruption|bad object|inflate: data stream error|missing (?:blob|tree|commit)|unable to read tree/i,
    say: "the host's repository is damaged: run git fsck there, or push again what it lacks",
  },
  {
    words: /(?:Load key|identity file).*(?:invalid format|error in libcrypto|incorrect passphrase|not a key)/i,
    given: "ssh-key",
    say: "ssh cannot read the stored key: store the whole private key, without a passphrase, with PUT /repository/{id}/credential",
  },
  {
    words: /Authentication failed|HTTP Basic: Access denied|returned error: 403/i,
    given: "token",
    say: "the host refuses the stored credential (wrong, expired, or without a right to this repository): replace it with PUT /repository/{id}/credential",
  },
  {
    words: /could not read (?:Username|Password)|terminal prompts disabled/i,
    given: "token",
    say: "another host, port or protocol than the clone address's asks for a credential, and the stored one is not for it",
  },
  {
    words: /could not read (?:Username|Password)|terminal prompts disabled/i,
    say: `the host asks for a credential: ${STORE}, or give the agent's user one`,
  },
  {
    words: /Authentication failed|HTTP Basic: Access denied|returned error: 403/i,
    say: `the host refuses the credential of the agent's user: ${STORE}, or give the agent's user another`,
  },
  {
    words: /Permission denied \(publickey/i,
    given: "ssh-key",
    say: "the host does not know the stored key, or it is another host than the clone address's: add its public half at the host, or replace it with PUT /repository/{id}/credential",
  },
  {
    words: /Permission denied \(publickey/i,
    say: `the host knows none of the agent's SSH keys: ${STORE}, or give the agent's user one`,
  },
  {
    words: /Host key verification failed/i,
    say: "the agent's user does not know this host: run ssh-keyscan HOST >> ~/.ssh/known_hosts there, after comparing the key",
  },
  {
    words: /batch response|\/info\/lfs|\(missing\)|Object does not exist on the server/i,
    say: "the host has no LFS for this repository, or not this file: look at LFS there, or leave out checkout.lfs",
  },
  { words: /couldn't find remote ref/i, say: "the repository has no such branch or tag: push it, or name another" },
  {
    words: /Repository not found|does not appear to be a git repository|not found/i,
    say: "there is no such repository, or the agent may not see it: look at cloneUrl and its credential",
  },
  {
    words: /Could not resolve host/i,
    say: "the agent's machine cannot resolve the host's name: look at its network and DNS",
  },
  {
    words: /unable to access|Connection (?:refused|timed out|reset)|Could not connect|early EOF/i,
    say: "the agent's machine cannot reach the host: look at its network and proxy",
  },
  {
    words: /transport '.*' not allowed/i,
    say: "the repository leads to a protocol that is not allowed: use https or ssh",
  },
];

/** Git's words without what a terminal would hide or obey. */
const ownWords = (stderr: string): string => {
  const lines = stderr
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/[\x00-\x08\x0b-\x1f\x7f]/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const left = lines.length - FIRST_LINES - LAST_LINES;
  const shown =
    left > 0 ? [...lines.slice(0, FIRST_LINES), `(${left} lines more)`, ...lines.slice(-LAST_LINES)] : lines;
  return shown.join("\n");
};

/** A failed git command as the failure of the build, with advice and git's own words. */
export const gitFailure = (doing: string, stderr: string, given: CredentialKind = null): BuildFailure => {
  const fits = (advice: Advice): boolean =>
    advice.words.test(stderr) && (advice.given === undefined || advice.given === given);
  const own = ownWords(stderr);
  const message = [`${doing} failed`, ADVICE.find(fits)?.say, own && `git says:\n${own}`].filter(Boolean).join(": ");
  return new BuildFailure("checkout-failed", message);
};
