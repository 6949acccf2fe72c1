import { describe, expect, it } from "vitest";
import { cloneHost, cloneUrlProblem } from "../../src/domain/clone-url.ts";

const USUAL = ["https", "ssh"];
const LOCAL = ["https", "ssh", "http", "file"];
const FORM = "must have the form https://host/owner/repo.git, ssh://git@host/... or git@host:owner/repo.git";

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
  ])("accepts %s", (url, host) => {
    expect(cloneUrlProblem(url, USUAL)).toBeNull();
    expect(cloneHost(url)).toBe(host);
  });

  it("takes http and file only where they are allowed", () => {
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
  ])("refuses %j for its form", (url) => {
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
    ["https://host/acme/app", "must end in .git"],
    ["https://host/acme/app.git/", "must end in .git"],
  ])("refuses %s: %s", (url, problem) => {
    expect(cloneUrlProblem(url, LOCAL)).toBe(problem);
  });
});
