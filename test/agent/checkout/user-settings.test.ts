import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { idsOfFiles } from "../../../src/agent/cache/prepare-cache.ts";
import { changesSince } from "../../../src/agent/checkout/changed-files.ts";
import { checkOut, fetchSource, toRemote } from "../../../src/agent/checkout/checkout.ts";
import { git } from "../../../src/agent/checkout/git.ts";
import { readIncluded } from "../../../src/agent/checkout/included-files.ts";
import { fetchDefaultBranch } from "../../../src/agent/checkout/remote.ts";
import { localChanges } from "../../../src/agent/cli/local-plan.ts";
import { startGitServer } from "../../support/local/git-server.ts";
import { failureOf, makeCheckoutContext, PLAIN, sourceOf } from "../support/checkout.ts";
import { testFolder } from "../support/folder.ts";
import { type TestRepository, testRepository } from "../support/repository.ts";
import { WAYS } from "../support/ways.ts";

/** Returns settings that people use, with the programs that they name. Each program leaves the file `ran`. */
const settings = (folder: string, url: string, program: string): string => `
[advice] detachedHead = true
[alias]
  checkout = !${program}
  fetch = !${program}
  lfs = !${program}
[branch] autoSetupMerge = always
[checkout] workers = 4
[clone] defaultRemoteName = upstream
[color]
  ui = always
  diff = always
[column] ui = always
[commit] gpgSign = true
[core]
  abbrev = 5
  attributesFile = ${folder}/attributes
  autocrlf = true
  eol = crlf
  fileMode = false
  fsmonitor = ${program}
  hooksPath = ${folder}/hooks
  logAllRefUpdates = always
  pager = ${program}
  quotePath = true
  splitIndex = true
  sshCommand = ${program}
  untrackedCache = true
  warnAmbiguousRefs = false
[credential]
  helper = !${program}
  useHttpPath = true
[credential "${url}"]
  helper = !${program}
  username = somebody
[diff]
  autoRefreshIndex = false
  external = ${program}
  ignoreSubmodules = all
  mnemonicPrefix = true
  orderFile = ${folder}/gone
  relative = true
  renames = copies
[feature]
  experimental = true
  manyFiles = true
[fetch]
  fsckObjects = true
  output = compact
  parallel = 4
  prune = true
  pruneTags = true
  recurseSubmodules = true
  writeCommitGraph = true
[filter "shout"] smudge = tr a-z A-Z
[format] pretty = fuller
[gc] auto = 1
[gpg] program = ${program}
[help] autocorrect = immediate
[i18n] logOutputEncoding = UTF-16
[index]
  sparse = true
  version = 4
[init]
  defaultBranch = trunk
  defaultObjectFormat = sha256
  defaultRefFormat = reftable
  templateDir = ${folder}/template
[log]
  date = relative
  follow = true
  mailmap = true
  showSignature = true
[maintenance] auto = true
[pager] diff = true
[protocol] version = 0
[protocol "ext"] allow = always
[remote "origin"]
  fetch = +refs/pull/*/head:refs/remotes/origin/pull/*
  prune = true
  tagOpt = --tags
[safe] bareRepository = explicit
[status]
  short = true
  showUntrackedFiles = no
[submodule]
  active = nothing
  fetchJobs = 4
  recurse = true
[tag] gpgSign = true
[transfer] fsckObjects = true
[user] useConfigOnly = true
`;

const VARIABLES = {
  GIT_ATTR_SOURCE: "refs/heads/gone",
  GIT_DEFAULT_HASH: "sha256",
  GIT_DIR: "/nowhere",
  GIT_ICASE_PATHSPECS: "1",
  GIT_LITERAL_PATHSPECS: "1",
  GIT_PAGER_IN_USE: "1",
  GIT_QUARANTINE_PATH: "/nowhere",
  GIT_TRACE: "1",
};

/** Writes these settings. All git commands of this process read them until the test ends. */
const withSettings = (url: string): string => {
  const folder = testFolder();
  const program = join(folder, "program");
  writeFileSync(program, `#!/bin/sh\ntouch ${folder}/ran\necho ran\n`);
  mkdirSync(join(folder, "hooks"));
  for (const name of ["post-checkout", "reference-transaction", "post-index-change"])
    writeFileSync(join(folder, "hooks", name), `#!/bin/sh\ntouch ${folder}/ran\n`);
  execFileSync("cp", ["-R", join(folder, "hooks"), join(folder, "template")]);
  execFileSync("sh", ["-c", 'chmod +x "$0"/program "$0"/hooks/*', folder]);
  writeFileSync(join(folder, "attributes"), "* text=auto eol=crlf\n*.txt filter=shout\n");
  writeFileSync(join(folder, "config"), settings(folder, url, program));
  setVariables({ ...VARIABLES, GIT_CONFIG_GLOBAL: join(folder, "config") });
  return folder;
};

/** Sets variables of this process until the test ends. */
const setVariables = (set: Record<string, string>): void => {
  const previous = Object.keys(set).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, set);
  onTestFinished(() => {
    for (const [name, value] of previous)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });
};

/** Creates a repository with a submodule, at a host with a password. Its second commit is signed and on main. */
const served = async () => {
  const inner = testRepository({ "inner.txt": "a\n" });
  const outer = testRepository({
    "a.txt": "one\ntwo\n",
    "crlf.txt": "one\r\n",
    ".gitattributes": "*.auto text=auto\n",
  });
  const server = await startGitServer(dirname(dirname(inner.folder)), "miller", "pw");
  onTestFinished(() => server.close());
  const urlOf = ({ folder }: typeof inner) => `${server.url}/${basename(dirname(folder))}/mill.git`;
  writeFileSync(join(outer.folder, ".gitmodules"), `[submodule "inner"]\n\tpath = inner\n\turl = ${urlOf(inner)}\n`);
  outer.git("update-index", "--add", "--cacheinfo", `160000,${inner.git("rev-parse", "HEAD")},inner`);
  symlinkSync("a.txt", join(outer.folder, "link"));
  writeFileSync(join(outer.folder, "run.auto"), "#!/bin/sh\n");
  chmodSync(join(outer.folder, "run.auto"), 0o755);
  mkdirSync(join(outer.folder, "inner"));
  outer.commit({ "dir/ä\t.txt": "x\n" }, "second: ä");
  const object = join(outer.folder, ".git/signed");
  const plain = outer.git("cat-file", "commit", "HEAD");
  writeFileSync(
    object,
    `${plain.replace("\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n =x\n -----END PGP SIGNATURE-----\n\n")}\n`,
  );
  const signed = outer.git("hash-object", "-t", "commit", "-w", object);
  outer.git("update-ref", "HEAD", signed);
  outer.git("tag", "main");
  outer.git("update-ref", "refs/pull/7/head", "HEAD~1");
  outer.commit({ "a.txt": "newest\n" });
  return { outer, server, signed, url: urlOf(outer) };
};

const filesBelow = (folder: string, below = ""): string[] =>
  readdirSync(join(folder, below), { withFileTypes: true })
    .filter(({ name }) => name !== ".git")
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(folder, join(below, entry.name)) : [join(below, entry.name)]))
    .sort();

/** Returns everything that the agent reads and creates from a repository with git. */
const allOf = async (cloneUrl: string, commitSha: string) => {
  const at = await makeCheckoutContext();
  const repository = {
    fullName: "acme/mill",
    cloneUrl,
    credential: { kind: "token", username: "miller", value: "pw" },
  } as const;
  const source = sourceOf(cloneUrl, { commitSha, configPath: "a.txt", repository });
  const remote = toRemote(source, at);
  const { gitContext, refspecs, objects, ...commit } = await fetchSource(source, at);
  const changes = await changesSince(remote, `${commitSha}~1`, commitSha);
  const whole = { depth: 0, submodules: "direct", lfs: false, fetchTags: true, mtimes: "commit" } as const;
  await checkOut(source, { ...commit, gitContext, objects, refspecs }, at, whole);
  const files = filesBelow(at.workspace).map((path) => {
    const stat = lstatSync(join(at.workspace, path));
    const isChecked = path.startsWith("inner");
    return {
      path,
      mode: stat.mode,
      text: readFileSync(join(at.workspace, path), "latin1"),
      time: isChecked ? 0 : stat.mtimeMs,
    };
  });
  const [refs, included, ids, branch] = [
    (await git(gitContext, ["for-each-ref"])).stdout.toString(),
    [...(await readIncluded({ objects, commitSha: commit.commitSha }, ["dir/ä\t.txt"]))],
    await idsOfFiles(gitContext, commitSha, ["dir/*"]),
    await fetchDefaultBranch(remote),
  ];
  writeFileSync(join(at.workspace, "a.txt"), "changed\n");
  writeFileSync(join(at.workspace, "inner/inner.txt"), "changed\n");
  writeFileSync(join(at.workspace, "new ü.txt"), "new\n");
  const local = await localChanges({ ...gitContext, protocols: [] });
  const hooks = existsSync(join(at.workspace, ".git/modules/inner/hooks"));
  return { commit, changes, files, refs, included, ids, branch, local, hooks };
};

/** Clones by hand with the settings in the folder, and returns a file's content. */
const cloned = ({ cloneUrl }: TestRepository, folder: string): string => {
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_GLOBAL: join(folder, "config") };
  const at = testFolder();
  execFileSync("git", ["-c", "init.defaultObjectFormat=sha1", "clone", "--quiet", cloneUrl, at], {
    env,
    stdio: "ignore",
  });
  return readFileSync(join(at, "a.txt"), "utf8");
};

it("no setting or variable of the agent's user changes the checkout or runs a program", async () => {
  const { outer, server, signed, url } = await served();
  const plain = await allOf(url, signed);
  expect(plain.files.map(({ path }) => path)).toContain("inner/inner.txt");
  expect(plain.local.files).toEqual(["a.txt", "inner", "new ü.txt"]);
  const folder = withSettings(server.url);
  expect(await allOf(url, signed)).toEqual(plain);
  expect(existsSync(join(folder, "ran"))).toBe(false);
  expect(cloned(outer, folder)).toBe("NEWEST\r\n");
  expect(existsSync(join(folder, "ran"))).toBe(true);
});

it("a failed fetch names the address that the user's settings rewrite, without its password", async () => {
  const config = join(testFolder(), "config");
  writeFileSync(config, '[url "http://user:pass@word@127.0.0.1:1/"]\n\tinsteadOf = http://mill.invalid/\n');
  setVariables({ GIT_CONFIG_GLOBAL: config });
  const failed = async (cloneUrl: string) =>
    (await failureOf(fetchSource(sourceOf(cloneUrl), await makeCheckoutContext()))).message;
  const rewritten = await failed("http://mill.invalid/acme/mill.git");
  expect(rewritten).toContain("rewrites http://mill.invalid/acme/mill.git to http://127.0.0.1:1/acme/mill.git");
  expect(rewritten).not.toContain("word");
  expect(await failed("http://127.0.0.1:1/acme/mill.git")).not.toContain("insteadOf");
  const repository = testRepository({
    ".gitmodules": '[submodule "a"]\n\tpath = a\n\turl = http://mill.invalid/inner.git\n',
  });
  repository.git("update-index", "--add", "--cacheinfo", `160000,${repository.git("rev-parse", "HEAD")},a`);
  repository.git("commit", "--quiet", "--message", "submodule");
  const server = await WAYS["plain files"](repository);
  const source = sourceOf(server);
  const at = await makeCheckoutContext();
  const fetched = await fetchSource(source, at);
  const { message } = await failureOf(checkOut(source, fetched, at, { ...PLAIN, submodules: "direct" }));
  expect(message).toContain("to http://127.0.0.1:1/inner.git");
});
