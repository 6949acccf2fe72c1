import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { checkOut, fetchSource } from "../../src/agent/checkout/checkout.ts";
import { initRepository } from "../../src/agent/checkout/remote.ts";
import { ProcessTree } from "../../src/agent/process/process-tree.ts";
import { addHistory } from "../support/local/git-history.ts";
import { makeRepository as madeOf } from "../support/local/git-repository.ts";
import { startGitServer } from "../support/local/git-server.ts";
import { median, ms } from "./support/statistics.ts";

const COMMITS = 1_000;
const FILES = 300;
const ROUNDS = 7;
const [USER, PASSWORD] = ["miller", "password"];
const CHECKOUT = { depth: 1, submodules: "none", lfs: false, fetchTags: false } as const;

const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
const fresh = (): string => mkdtempSync(join(folder, "clone-"));

/** Returns the milliseconds that the work takes in a new folder, and removes the folder. */
const timed = async (work: (folder: string) => Promise<void>): Promise<number> => {
  const place = fresh();
  const begun = performance.now();
  await work(place);
  const took = performance.now() - begun;
  rmSync(place, { recursive: true });
  return took;
};

/** Checks out the agent's way. A real agent creates the empty repository earlier, while it waits. */
const own = async (cloneUrl: string, commitSha: string | null): Promise<number> => {
  const [workspace, around] = [fresh(), fresh()];
  mkdirSync(workspace, { recursive: true });
  const at = { workspace, tempFolder: around, tree: new ProcessTree(crypto.randomUUID()) };
  const credential = { kind: "token" as const, username: USER, value: PASSWORD };
  const repository = { fullName: "acme/app", cloneUrl, credential };
  const source = { branch: "main", commitSha, configPath: "a.txt", repository };
  const took = await timed(async () => {
    await initRepository(workspace);
    await checkOut(source, await fetchSource(source, at), at, CHECKOUT);
  });
  for (const path of [workspace, around]) rmSync(path, { recursive: true });
  return took;
};

/** Checks out one commit with the fewest git commands. */
const plain = (address: string, commitSha: string | null): Promise<number> =>
  timed(async (place) => {
    const git = (...args: string[]) => promisify(execFile)("git", args, { cwd: place });
    if (commitSha === null) return void (await git("clone", "--quiet", "--depth=1", address, "copy"));
    await git("init", "--quiet");
    await git("fetch", "--quiet", "--depth=1", address, commitSha);
    await git("checkout", "--quiet", "FETCH_HEAD");
  });

/** Compares checkouts of commits of different ages with plain git, from the same `git http-backend`. */
export const benchCheckout = async (): Promise<void> => {
  const repository = madeOf(folder, { "a.txt": "0" });
  addHistory(repository.work, COMMITS, FILES);
  const { url, close } = await startGitServer(join(repository.work, ".."), USER, PASSWORD);
  const cloneUrl = `${url}/${basename(repository.work)}`;
  const address = cloneUrl.replace("//", `//${USER}:${PASSWORD}@`);
  console.log(`checkout of a repository of ${COMMITS} commits and ${FILES} files, median of ${ROUNDS} in turns:`);
  const pins = [
    ["head, not pinned", null],
    ["head, pinned", "main"],
    ["3 back", "main~3"],
    ["300 back", "main~300"],
  ] as const;
  for (const [name, revision] of pins) {
    const commitSha = revision && repository.git("rev-parse", revision);
    const times: { own: number; plain: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      times.push({ own: await own(cloneUrl, commitSha), plain: await plain(address, commitSha) });
    }
    const [mine, bare] = (["own", "plain"] as const).map((who) => median(times.map((time) => time[who])));
    const floor = commitSha === null ? "clone --depth 1" : "fetch --depth 1 SHA";
    console.log(`  ${name}: ${ms(mine!)}, git ${floor} ${ms(bare!)}, ratio ${(mine! / bare!).toFixed(2)}`);
  }
  await close();
  rmSync(folder, { recursive: true });
};

if (import.meta.main) await benchCheckout();
