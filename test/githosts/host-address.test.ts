import { isIP } from "node:net";
import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalHostAddress, hostAddressProblem } from "../../src/githosts/core/host-address.ts";
import { HOSTS } from "../../src/githosts/hosts.ts";

const ownOrigin = "https://millrace.example";
const problem = (address: string, protocols = ["https", "ssh"]) =>
  hostAddressProblem(address, { protocols, ownOrigin });

const part = fc.stringMatching(/^[a-z0-9.:@%/\\?#[\]_ -]{0,12}$/);
const address = fc.oneof(
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.tuple(fc.constantFrom("https://", "http://", "https:", "HTTPS://", "//"), part, part).map((all) => all.join("")),
  fc.domain().map((name) => `https://${name}`),
  fc.ipV4Extended().map((ip) => `https://${ip}`),
  fc.ipV6().map((ip) => `https://[${ip}]`),
);

it("a host address must be a public host name with https", () => {
  let allowed = 0;
  fc.assert(
    fc.property(address, (text) => {
      if (problem(text) !== null) return;
      allowed += 1;
      const url = new URL(text);
      expect(url.protocol).toBe("https:");
      expect(isIP(url.hostname.replace(/^\[|\]$/g, ""))).toBe(0);
      expect(url.hostname).toMatch(/\.[a-z]/);
      expect([url.username, url.password, url.search, url.hash]).toEqual(["", "", "", ""]);
    }),
    { numRuns: 5000 },
  );
  expect(allowed).toBeGreaterThan(50);
});

it.each([
  ...["printer.lan", "kubernetes.default.svc", "api.default.svc.cluster.local", "db.corp", "router.home.arpa"],
  ...["x.localdomain", "git.internal", "git.local", "a.localhost", "git.home", "git.test", "git.intranet", "x.onion"],
])("the host address %s is rejected: a name of one network", (host) => {
  expect(problem(`https://${host}`)).toBe("must have a public host name");
});

it.each(["git.lan.example", "corp.dev", "local.org", "svc.cloud", "git.example"])(
  "the host address %s is accepted",
  (host) => {
    expect(problem(`https://${host}`)).toBeNull();
  },
);

it("an accepted host address keeps the API at that host, and canonical addresses unchanged", () => {
  fc.assert(
    fc.property(address, fc.constantFrom("github", "gitlab", "gitea"), (text, kind) => {
      if (problem(text) !== null) return;
      const webUrl = canonicalHostAddress(text);
      expect(canonicalHostAddress(webUrl)).toBe(webUrl);
      const api = new URL(HOSTS[kind as "github"].apiUrl(webUrl));
      expect(api.hostname.replace(/^api\./, "")).toBe(new URL(webUrl).hostname.replace(/^api\./, ""));
      expect(problem(api.href)).toBeNull();
    }),
  );
});

it("a host address on this machine is accepted if clones by http are allowed, but never the service itself", () => {
  const local = ["https", "http", "file"];
  for (const text of ["http://127.0.0.1:3000", "http://localhost", "https://gitea"]) {
    expect(problem(text, local)).toBeNull();
    expect(problem(text)).not.toBeNull();
  }
  expect(problem("https://millrace.example:8443")).not.toBeNull();
  expect(problem("https://millrace.example:8443", local)).toBeNull();
  for (const text of ["https://millrace.example.", "https://millrace.example.:443/x", "https://git.example./"]) {
    expect(problem(text, local)).not.toBeNull();
    expect(problem(text)).not.toBeNull();
  }
  for (const text of [ownOrigin, "https://MILLRACE.example/x", "https://u@git.example", "ftp://git.example"]) {
    expect(problem(text, local)).not.toBeNull();
    expect(problem(text)).not.toBeNull();
  }
});
