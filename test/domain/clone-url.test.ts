import { describe, expect, it } from "vitest";
import { canonicalCloneUrl, cloneHost, cloneUrlProblem } from "../../src/domain/clone-url.ts";

const USUAL = ["https", "ssh"];
const LOCAL = ["https", "ssh", "http", "file"];
const FORM = "must have the form https://host/owner/repo.git, ssh://git@host/... or git@host:owner/repo.git";

const PAGE = "must be the address of the repository itself, not of a page in it";

describe("cloneUrlProblem", () => {
  it.each([
    ["https://github.com/acme/app.git", "github.com"],
    ["https://Git.Example.com:8443/group/sub/app.git", "git.example.com"],
    ["ssh://git@github.com/acme/app.git", "github.com"],
    ["ssh://git@github.com:2222/acme/app.git", "github.com"],
    ["git@github.com:acme/app.git", "github.com"],
    ["github.com:acme/app.git", "github.com"],
    ["git@host:~user/app.git", "host"],
    ["https://host/a%20b/app.git", "host"],
    ["https://[::1]/app.git", "[::1]"],
    ["https://dev.azure.com/acme/a%20project/_git/app", "dev.azure.com"],
    ["git@ssh.dev.azure.com:v3/acme/project/app", "ssh.dev.azure.com"],
    ["https://acme.visualstudio.com/DefaultCollection/project/_git/app", "acme.visualstudio.com"],
    ["https://git.sr.ht/~acme/app", "git.sr.ht"],
    ["git@git.sr.ht:~acme/app", "git.sr.ht"],
    ["https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/app", "git-codecommit.eu-west-1.amazonaws.com"],
    ["ssh://APKAEXAMPLE@git-codecommit.eu-west-1.amazonaws.com/v1/repos/app", "git-codecommit.eu-west-1.amazonaws.com"],
    ["https://gitlab.com/group/sub/tree/app.git", "gitlab.com"],
    ["ssh://me@gerrit.example:29418/plugins/app", "gerrit.example"],
    ["https://127.0.0.1:65535/app.git", "127.0.0.1"],
  ])("accepts %s", (url, host) => {
    expect(cloneUrlProblem(url, USUAL)).toBeNull();
    expect(cloneHost(url)).toBe(host);
  });

  it("accepts http and file only where they are allowed", () => {
    for (const url of ["http://host/app.git", "file:///srv/app.git"]) {
      expect(cloneUrlProblem(url, USUAL)).toBe("must use one of: https, ssh");
      expect(cloneUrlProblem(url, LOCAL)).toBeNull();
    }
    expect(cloneUrlProblem("git@host:app.git", ["https"])).toBe("must use one of: https");
    expect(cloneHost("file:///srv/app.git")).toBe("localhost");
  });

  it.each([
    ...["", "app.git", "/srv/app.git", "./app.git", "ext::sh -c touch% x.git", "ext::x.git", "git://host/app.git"],
    ...["--upload-pack=x.git", "-x@host:app.git", "ssh://-oProxyCommand=x/app.git", "-oProxyCommand=x:app.git"],
    ...[
      "ssh://-host/app.git",
      "git@-host:app.git",
      "ssh://-oX@host/app.git",
      "git@host:-x.git",
      "https://-host/app.git",
    ],
    ...["https://host/a\nb.git", "https://host/a b.git", "https://host/a\\b.git", "https://host/é.git", "C:app.git"],
    ...[
      "https://host/app.git?x=.git",
      "https://host/#.git",
      "https:///app.git",
      "host::app.git",
      "file://host/app.git",
    ],
    ...[
      "HTTPS://host/app.git",
      "https://host",
      "fd::7.git",
      "host://x.git",
      "https://host:99999999/app.git",
      "\0:x.git",
    ],
    ...[
      "https:/host/app.git",
      "HTTPS:/host/app",
      "ssh:host/app.git",
      "codecommit::eu-west-1://app",
      "https://a..b/app.git",
    ],
  ])("rejects the form of %j", (url) => {
    expect(cloneUrlProblem(url, LOCAL)).toBe(FORM);
  });

  it.each([
    ["https://user:pw@host/app.git", "must not have credentials"],
    ["https://token@host/app.git", "must not have credentials"],
    ["ssh://git:pw@host/app.git", "must not have credentials"],
    ["https://host/app%0a.git", "must not have encoded control characters"],
    ["git@host:app%0D.git", "must not have encoded control characters"],
    ["https://host/%00.git", "must not have encoded control characters"],
    ["https://host/%zz.git", "must not have encoded control characters"],
    ["https://host/a/../b.git", "must not have .. in its path"],
    ["https://host/acme/app.git/", "must not end in /"],
    ["https://host:99999/app.git", "must have a port from 1 to 65535"],
    ["ssh://git@host:0/app.git", "must have a port from 1 to 65535"],
    ["https://[:::1]/app.git", "must have a host name or address"],
    ["https://1.2.3.456/app.git", "must have a host name or address"],
    ["https://github.com/acme", PAGE],
    ["https://github.com/acme/app/tree/main.git", PAGE],
    ["https://bitbucket.org/acme/app/src/main", PAGE],
    ["https://gitlab.com/group/app/-/tree/main.git", PAGE],
    ["https://gitlab.example/group/app/-/tree/main", PAGE],
  ])("rejects %s: %s", (url, problem) => {
    expect(cloneUrlProblem(url, LOCAL)).toBe(problem);
  });
});

describe("canonicalCloneUrl", () => {
  it.each([
    ["https://github.com/acme/app", "https://github.com/acme/app.git"],
    ["https://github.com/acme/app/", "https://github.com/acme/app.git"],
    ["https://GitHub.com/acme/app.git//", "https://GitHub.com/acme/app.git"],
    ["git@github.com:acme/app", "git@github.com:acme/app.git"],
    ["https://gitlab.com/group/sub/app", "https://gitlab.com/group/sub/app.git"],
    ["https://me@bitbucket.org/acme/app.git", "https://bitbucket.org/acme/app.git"],
    ["https://acme@dev.azure.com/acme/project/_git/app", "https://dev.azure.com/acme/project/_git/app"],
    ["https://git.sr.ht/~acme/app/", "https://git.sr.ht/~acme/app"],
    ["https://git.example/acme/app", "https://git.example/acme/app"],
  ])("keeps %s as %s", (pasted, kept) => {
    expect(canonicalCloneUrl(pasted)).toBe(kept);
    expect(canonicalCloneUrl(kept)).toBe(kept);
    expect(cloneUrlProblem(kept, USUAL)).toBeNull();
  });

  it.each(["", "/", "x", "https://", "https://user:pw@host/app.git", "ext::sh -c x", "ssh://git@host/app.git"])(
    "returns %j unchanged",
    (text) => {
      expect(canonicalCloneUrl(text)).toBe(text);
    },
  );

  it("reads an address full of slashes in negligible time", () => {
    const slashes = `https://host/${"/".repeat(100_000)}x`;
    expect(canonicalCloneUrl(slashes)).toBe(slashes);
  });
});
