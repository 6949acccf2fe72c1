import { describe, expect, it } from "vitest";
import { gitFailure } from "../../../src/agent/checkout/git-failure.ts";

describe("the message of a failed git command", () => {
  it.each([
    ["git fetch", "fatal: write error: No space left on device", null, "disk is full"],
    ["git fetch", "Host key verification failed.", null, "known_hosts"],
    [
      "git fetch",
      "fatal: could not read Username for 'https://h': x",
      null,
      "the host requires a credential: store one",
    ],
    [
      "git fetch",
      "fatal: could not read Username for 'https://h:1': x",
      "token",
      "the stored credential is only for the clone URL",
    ],
    ["git fetch", "fatal: Authentication failed for 'https://h/x.git/'", "token", "rejected the stored credential"],
    ["git fetch", "fatal: Authentication failed for 'https://h/x.git/'", null, "the credential of the agent's user"],
    ["git fetch", "error: The requested URL returned error: 403", "token", "rejected the stored credential"],
    ["git fetch", 'Load key "/k": error in libcrypto\ngit@h: Permission denied (publickey).', "ssh-key", "cannot read"],
    ["git fetch", "git@h: Permission denied (publickey).", "ssh-key", "the host rejected the stored key"],
    ["git fetch", "git@h: Permission denied (publickey).", null, "rejected the agent's SSH keys"],
    ["git lfs pull", "batch response: Repository or object not found: http://h/info/lfs/objects/batch", null, "no LFS"],
    [
      "git lfs pull",
      "git: 'lfs' is not a git command. See 'git --help'.",
      null,
      "git-lfs is not installed on the agent",
    ],
    [
      "git fetch",
      "remote: aborting due to possible repository corruption on the remote side.\nfatal: early EOF",
      null,
      "the repository on the host is damaged",
    ],
    ["git fetch", "fatal: early EOF", null, "cannot reach the host"],
  ] as const)("%s: %j with %s", (doing, stderr, given, said) => {
    expect(gitFailure(doing, stderr, given).message).toMatch(new RegExp(`^${doing} failed: .*${said}`));
  });

  it("keeps the first and last lines, and no control characters", () => {
    const lines = Array.from({ length: 40 }, (_, n) => `line ${n}`);
    const { message } = gitFailure("git submodule", `first\0 \x1b[31m\r\n\n${lines.join("\n")}\n`);
    expect(message).toMatch(/^git submodule failed: git says:\nfirst \[31m\nline 0\n/);
    expect(message).toMatch(/\n\(25 more lines\)\nline 36\nline 37\nline 38\nline 39$/);
    expect(message).not.toMatch(/[\0\x1b\r]/);
  });
});
