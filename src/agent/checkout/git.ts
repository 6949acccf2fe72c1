import { spawn } from "node:child_process";
import { type ProcessTree, signalGroup } from "../process/process-tree.ts";

/** Bytes of a git command's output kept: a pipeline file has far fewer, an error message too. */
const KEPT = 4 * 1024 * 1024;

/** Variables by which an outer git tells an inner one which repository it works in: git(1), `rev-parse --local-env-vars`. */
const REPOSITORY_VARIABLES = new Set(
  [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_CONFIG GIT_CONFIG_PARAMETERS GIT_CONFIG_COUNT GIT_OBJECT_DIRECTORY GIT_DIR",
    "GIT_WORK_TREE GIT_IMPLICIT_WORK_TREE GIT_GRAFT_FILE GIT_INDEX_FILE GIT_NO_REPLACE_OBJECTS GIT_REPLACE_REF_BASE",
    "GIT_PREFIX GIT_SHALLOW_FILE GIT_COMMON_DIR GIT_NAMESPACE GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_EXTERNAL_DIFF",
  ].flatMap((line) => line.split(" ")),
);

/** Nothing that a repository or a user's own habits bring may run, ask or fetch on its own; the copy is thrown away. */
const SETTINGS = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "submodule.recurse=false",
  "fetch.recurseSubmodules=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "core.fsync=none",
  "advice.detachedHead=false",
  "protocol.allow=never",
  "http.lowSpeedLimit=1000",
  "http.lowSpeedTime=60",
];

export interface GitOutput {
  code: number;
  stdout: Buffer;
  stderr: string;
}

export interface GitContext {
  folder: string;
  protocols: string[];
  tree: ProcessTree;
  signal?: AbortSignal;
}

/** What one command may have besides: settings and variables that end with it, such as a credential. */
export interface GitCommandOptions {
  settings?: string[];
  env?: Record<string, string>;
}

const environment = ({ protocols, tree }: GitContext, extra: GitCommandOptions): NodeJS.ProcessEnv => {
  const own = Object.entries(process.env).filter(
    ([name]) => !REPOSITORY_VARIABLES.has(name) && !/^(?:MILLRACE_|GIT_CONFIG_(?:KEY|VALUE)_)/.test(name),
  );
  return {
    ...Object.fromEntries(own),
    ...tree.env,
    GIT_TERMINAL_PROMPT: "0",
    SSH_ASKPASS_REQUIRE: "never",
    GCM_INTERACTIVE: "never",
    GIT_ALLOW_PROTOCOL: protocols.join(":"),
    GIT_PROTOCOL_FROM_USER: "0",
    GIT_LFS_SKIP_SMUDGE: "1",
    LC_ALL: "C",
    ...extra.env,
  };
};

/**
 * Runs git in a process group of its own. The user's HOME, credential helper, proxies and SSH agent stay; prompts,
 * hooks and other protocols are off. `args` are the command and its options; positionals belong after `--`. `input` is its
 * standard input.
 * @throws when git cannot be started, or with the signal's reason.
 */
export const git = (
  place: GitContext,
  args: string[],
  extra: GitCommandOptions = {},
  input = "",
): Promise<GitOutput> => {
  const allowed = place.protocols.map((name) => `protocol.${name}.allow=always`);
  const settings = [...SETTINGS, ...allowed, ...(extra.settings ?? [])].flatMap((setting) => ["-c", setting]);
  return new Promise((resolve, reject) => {
    place.signal?.throwIfAborted();
    const child = spawn("git", [...settings, ...args], {
      cwd: place.folder,
      detached: true,
      stdio: [input === "" ? "ignore" : "pipe", "pipe", "pipe"],
      env: environment(place, extra),
    });
    if (child.pid !== undefined) place.tree.add(child.pid);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let kept = 0;
    const keep = (into: Buffer[]) => (chunk: Buffer) => {
      kept += chunk.length;
      if (kept <= KEPT) into.push(chunk);
    };
    child.stdout?.on("data", keep(out));
    child.stderr?.on("data", keep(err));
    // One that ended without reading says so by its exit code.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
    // The transport is a child of git's, and may be waiting for a host that never answers.
    const interrupt = (): void => {
      if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
    };
    place.signal?.addEventListener("abort", interrupt, { once: true });
    const settle = (action: () => void): void => {
      place.signal?.removeEventListener("abort", interrupt);
      if (place.signal?.aborted) reject(place.signal.reason);
      else action();
    };
    child.on("error", (error) => settle(() => reject(error)));
    child.on("close", (code, signal) =>
      settle(() =>
        resolve({
          code: code ?? (signal ? 128 : 1),
          stdout: Buffer.concat(out),
          stderr: Buffer.concat(err).toString("utf8"),
        }),
      ),
    );
  });
};
