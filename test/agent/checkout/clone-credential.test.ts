import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkOut, fetchSource } from "../../../src/agent/checkout/checkout.ts";
import { type GitCommandOptions, git } from "../../../src/agent/checkout/git.ts";
import { withCredential } from "../../../src/agent/checkout/remote.ts";
import { ProcessTree } from "../../../src/agent/process/process-tree.ts";
import { startGitServer } from "../../support/local/git-server.ts";
import { BUILD, failureOf, makeCheckoutContext, PLAIN, sourceOf } from "../support/checkout.ts";
import { testFolder } from "../support/folder.ts";
import { testRepository } from "../support/repository.ts";

const TOKEN = "ghs_the-clone-token-of-the-test";
const token = (value = TOKEN) => ({ kind: "token" as const, username: "miller", value });
const key = (value: string) => ({ kind: "ssh-key" as const, username: null, value });

/** Returns the credential's file that a setting or variable names. */
const fileIn = (text: string | undefined): string => /'(\/[^']+)'/.exec(text ?? "")?.[1] ?? "";

describe("a stored token", () => {
  it("reaches the host by git's credential protocol, appears in no argument or environment, and is removed afterwards", async () => {
    const asked: string[] = [];
    const host = createServer((request, response) => {
      asked.push(request.headers.authorization ?? "nothing");
      response.writeHead(401, { "WWW-Authenticate": 'Basic realm="mill"' }).end();
    });
    await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
    const cloneUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}/acme/mill.git`;
    const at = await makeCheckoutContext();
    const repository = { fullName: "acme/mill", cloneUrl, credential: { ...token(`${TOKEN}\n`), username: null } };
    const failure = await failureOf(fetchSource(sourceOf(cloneUrl, { repository }), at));
    host.close();
    host.closeAllConnections();
    expect(asked).toContain(`Basic ${Buffer.from(`x-access-token:${TOKEN}`).toString("base64")}`);
    expect(failure.message).toContain("the host rejected the stored credential");
    expect(failure.message).not.toContain(TOKEN);
    expect(readFileSync(join(at.workspace, ".git/config"), "utf8")).not.toContain(TOKEN);
    expect(readdirSync(at.tempFolder)).toEqual(["workspace"]);
  });

  /** Returns git's answer to git-lfs, and to itself before it sends a credential to a host: `git credential fill`. */
  const filled = (cloneUrl: string, question: string, change: (extra: GitCommandOptions) => void = () => {}) => {
    const folder = testFolder();
    return withCredential(token(), cloneUrl, folder, async (extra) => {
      expect(JSON.stringify(extra)).not.toContain(TOKEN);
      change(extra);
      const place = { folder, protocols: ["https"], tree: new ProcessTree(BUILD) };
      return (await git(place, ["credential", "fill"], extra, `${question}\n\n`)).stdout.toString();
    });
  };
  const HTTPS = "https://mill.example/a/b.git";
  const PORT = "https://Mill.example:8443/a/b.git";

  it.each([
    [HTTPS, "protocol=https\nhost=mill.example"],
    [HTTPS, "url=https://MILL.example/other.git"],
    [HTTPS, "url=https://somebody@mill.example/a/b.git"],
    [PORT, "url=https://mill.example:8443/a/b.git/info/lfs"],
    ["https://[::1]:8443/b.git", "url=https://[::1]:8443/c.git"],
  ])("for %s answers %j", async (cloneUrl, question) => {
    expect(await filled(cloneUrl, question)).toContain(`password=${TOKEN}\n`);
  });

  it.each([
    ["another port", HTTPS, "url=https://mill.example:8443/a/b.git"],
    ["no port", PORT, "url=https://mill.example/a/b.git"],
    ["another protocol", HTTPS, "url=http://mill.example/a/b.git"],
    ["another protocol and port", HTTPS, "url=http://mill.example:443/a/b.git"],
    ["another host", HTTPS, "url=https://evil.example/a/b.git"],
    ["a host with the same beginning", HTTPS, "url=https://mill.example.evil.example/a/b.git"],
    ["a host with the same end", HTTPS, "url=https://evil-mill.example/a/b.git"],
    ["a user name that looks like the host", HTTPS, "url=https://x%3A%2F%2Fmill.example%27@evil.example/e.git"],
    ["a user name that is the host", HTTPS, "url=https://mill.example@evil.example/e.git"],
    ["a second host", HTTPS, "protocol=https\nhost=evil.example\nhost=mill.example\nhost=evil.example"],
    ["a path that contains the host", HTTPS, "protocol=https\nhost=evil.example\npath=host=mill.example"],
    ["no host", HTTPS, "protocol=https\nhost=\npath=a"],
    ["no protocol", HTTPS, "host=mill.example"],
  ])("does not answer for %s", async (_, cloneUrl, question) => {
    expect(await filled(cloneUrl, question)).not.toContain(TOKEN);
  });

  it("reaches another host if the comparison is missing", async () => {
    const careless = ({ settings }: GitCommandOptions): void => {
      const program = fileIn(settings?.at(-1));
      writeFileSync(program, readFileSync(program, "utf8").replace(/^\[ "\$asked".*\n.*exit 0$/m, ""));
    };
    expect(await filled(HTTPS, "url=https://evil.example/a/b.git", careless)).toContain(TOKEN);
  });

  it("is sent for a submodule on the same host and port, but not on another port", async () => {
    const inner = testRepository({ "inner.txt": "x" });
    const outer = testRepository({ "a.txt": "one" });
    const own = await startGitServer(dirname(dirname(inner.folder)), "miller", TOKEN);
    const thief = await startGitServer(dirname(dirname(inner.folder)), "miller", TOKEN);
    const pathOf = (folder: string): string => `/${basename(dirname(folder))}/mill.git`;
    const build = async (url: string): Promise<string> => {
      const modules = `[submodule "inner"]\n\tpath = inner\n\turl = ${url}\n`;
      outer.git("update-index", "--add", "--cacheinfo", `160000,${inner.git("rev-parse", "HEAD")},inner`);
      writeFileSync(join(outer.folder, ".gitmodules"), modules);
      outer.git("add", ".gitmodules");
      outer.git("commit", "--quiet", "--message", "inner");
      const cloneUrl = own.url + pathOf(outer.folder);
      const repository = { fullName: "acme/mill", cloneUrl, credential: token() };
      const at = await makeCheckoutContext();
      const source = sourceOf(cloneUrl, { repository });
      const fetched = await fetchSource(source, at);
      await checkOut(source, fetched, at, { ...PLAIN, submodules: "direct" });
      return readFileSync(join(at.workspace, "inner/inner.txt"), "utf8");
    };
    expect(await build(own.url + pathOf(inner.folder))).toBe("x");
    const { message } = await failureOf(build(thief.url + pathOf(inner.folder)));
    expect(message).toContain("the stored credential is only for the clone URL");
    expect(thief.asked.map(({ isAdmitted }) => isAdmitted)).toContain(false);
    expect(thief.asked.map(({ isAdmitted }) => isAdmitted)).not.toContain(true);
    await Promise.all([own.close(), thief.close()]);
  });
});

describe("a stored SSH key", () => {
  it("is a file that only its user can read, with line ends that ssh accepts", async () => {
    const folder = testFolder();
    await withCredential(key("-----BEGIN KEY-----\r\nx\r\n"), "git@mill.example:a/b.git", folder, async ({ env }) => {
      const path = join(dirname(fileIn(env?.GIT_SSH_COMMAND)), "key");
      expect(lstatSync(path).mode & 0o777).toBe(0o600);
      expect(readFileSync(path, "utf8")).toBe("-----BEGIN KEY-----\nx\n");
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  /** Returns the keys that ssh would offer (`ssh -G`) when git calls it. */
  const offered = (cloneUrl: string, words: string[], change: (program: string) => void = () => {}) =>
    withCredential(key("a key"), cloneUrl, testFolder(), async ({ env }) => {
      const program = fileIn(env?.GIT_SSH_COMMAND);
      change(program);
      const told = execFileSync("sh", [program, "-G", ...words], { encoding: "utf8" });
      expect(told).toContain("identityagent none");
      expect(told).toContain("identitiesonly yes");
      return [...told.matchAll(/^identityfile (.*)$/gm)].map(([, path = ""]) => basename(path));
    });
  const SCP = "git@Mill.example:a/b.git";
  const PORT = "ssh://git@mill.example:2222/a/b.git";
  const OPTION = ["-o", "SendEnv=GIT_PROTOCOL"];
  const COMMAND = "git-upload-pack '/a/b.git'";

  it.each([
    [SCP, [...OPTION, "git@mill.example", COMMAND]],
    [SCP, ["Mill.Example", COMMAND]],
    [PORT, [...OPTION, "-p", "2222", "git@mill.example", COMMAND]],
    ["ssh://git@[::1]/a/b.git", ["git@::1", COMMAND]],
  ])("of %s is offered for %j", async (cloneUrl, words) => {
    expect(await offered(cloneUrl, words)).toEqual(["key"]);
  });

  it.each([
    ["another host", SCP, [...OPTION, "git@evil.example", COMMAND]],
    ["another port", SCP, ["-p", "2222", "git@mill.example", COMMAND]],
    ["no port", PORT, ["git@mill.example", COMMAND]],
    ["a user that is the host", SCP, ["mill.example@evil.example", COMMAND]],
    ["a command that is the host", SCP, ["git@evil.example", "mill.example"]],
    ["an option that is the host", SCP, ["-o", "SendEnv=mill.example", "git@evil.example", COMMAND]],
  ])("is not offered to %s", async (_, cloneUrl, words) => {
    expect(await offered(cloneUrl, words)).toEqual(["none"]);
  });

  it("reaches another host if the comparison is missing", async () => {
    const careless = (program: string): void =>
      writeFileSync(program, readFileSync(program, "utf8").replace(/^\[ .*IdentityFile=none.*$/m, ""));
    expect(await offered(SCP, ["git@evil.example", COMMAND], careless)).toEqual(["key"]);
  });
});
