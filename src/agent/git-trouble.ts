import { BuildFailure } from "./failure.ts";

/** Lines of git's own words that are passed on. */
const KEPT_LINES = 12;

/** What a person can do about git's commonest failures, by git's own words for them. */
const ADVICE: [RegExp, string][] = [
  [/No space left on device|Disk quota exceeded/i, "the agent's disk is full: free some space, or use --work"],
  [
    /could not read (?:Username|Password)|terminal prompts disabled|Authentication failed|HTTP Basic: Access denied/i,
    "the host asks for a credential: store one with PUT /repository/{id}/credential, or give the agent's user one",
  ],
  [
    /Permission denied \(publickey/i,
    "the host knows none of the agent's SSH keys: store one with PUT /repository/{id}/credential, or give the agent's user one",
  ],
  [
    /Host key verification failed/i,
    "the agent's user does not know this host: run ssh-keyscan HOST >> ~/.ssh/known_hosts there, after comparing the key",
  ],
  [/couldn't find remote ref/i, "the repository has no such branch or tag: push it, or name another"],
  [
    /Repository not found|does not appear to be a git repository|not found/i,
    "there is no such repository, or the agent may not see it: look at cloneUrl and its credential",
  ],
  [/Could not resolve host/i, "the agent's machine cannot resolve the host's name: look at its network and DNS"],
  [
    /unable to access|Connection (?:refused|timed out|reset)|Could not connect|early EOF/i,
    "the agent's machine cannot reach the host: look at its network and proxy",
  ],
  [/transport '.*' not allowed/i, "the repository leads to a protocol that is not allowed: use https or ssh"],
  [/'lfs' is not a git command/i, "the agent has no git-lfs: install it there, or leave out checkout.lfs"],
];

/** A failed git command as the failure of the build, with advice and git's own last lines. */
export const gitTrouble = (doing: string, stderr: string): BuildFailure => {
  const advice = ADVICE.find(([words]) => words.test(stderr))?.[1];
  const own = stderr.trim().split("\n").slice(-KEPT_LINES).join("\n");
  const message = [`${doing} failed`, advice, own && `git says:\n${own}`].filter(Boolean).join(": ");
  return new BuildFailure("checkout-failed", message);
};
