import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { MIB } from "../../protocol/units.ts";
import { type ProcessTree, signalGroup } from "../process/process-tree.ts";

/** Bytes kept of a git command's output. Pipeline files and error messages are much shorter. */
const OUTPUT_LIMIT = 4 * MIB;

/** Git's own variables for hosts, settings, repository locations and LFS. */
const OWN_VARIABLE = /^GIT_(?:SSH|SSL|HTTP|PROXY|ASKPASS|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)|CEILING|DISCOVERY|LFS)/;

/**
 * Reports whether git gets an agent variable. A trace must go to a file, because it would otherwise mix with git's
 * output.
 */
const isPassedOn = (name: string, value = ""): boolean =>
  name.startsWith("GIT_")
    ? OWN_VARIABLE.test(name) || (name.startsWith("GIT_TRACE") && value.startsWith("/"))
    : !name.startsWith("MILLRACE_");

/**
 * Turns off everything that a repository or the user's configuration could run or fetch. Also turns off fsync, because
 * the clone is temporary.
 */
const SETTINGS = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "diff.autoRefreshIndex=true",
  "diff.orderFile=/dev/null",
  "help.autocorrect=0",
  "init.defaultObjectFormat=sha1",
  "init.defaultRefFormat=files",
  "submodule.active=.",
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
  settings?: string[];
}

/** Settings and variables for one command, a credential for example. */
export interface GitCommandOptions {
  settings?: string[];
  env?: Record<string, string>;
  /** Receives the standard output as it arrives. Without it, git's output is kept. */
  read?: (chunk: Buffer) => void;
}

const environment = ({ protocols, tree }: GitContext, options: GitCommandOptions): NodeJS.ProcessEnv => {
  const own = Object.entries(process.env).filter(([name, value]) => isPassedOn(name, value));
  return {
    ...Object.fromEntries(own),
    ...tree.env,
    GIT_TERMINAL_PROMPT: "0",
    SSH_ASKPASS_REQUIRE: "never",
    GCM_INTERACTIVE: "never",
    GIT_ALLOW_PROTOCOL: protocols.join(":"),
    GIT_PROTOCOL_FROM_USER: "0",
    GIT_LFS_SKIP_SMUDGE: "1",
    GIT_TEMPLATE_DIR: "",
    LC_ALL: "C",
    ...options.env,
  };
};

/**
 * Runs git in its own process group, with the user's HOME, credential helper, proxies and SSH agent, but without
 * prompts, hooks and other protocols. Avoid commands whose output a setting changes, or specify their format. In
 * `args`, positional arguments must follow `--`. `input` is the standard input.
 * @throws when git cannot be started, or the signal's reason
 */
export const git = (
  context: GitContext,
  args: string[],
  options: GitCommandOptions = {},
  input: string | Readable = "",
): Promise<GitOutput> => {
  const allowed = context.protocols.map((name) => `protocol.${name}.allow=always`);
  const more = [...(context.settings ?? []), ...(options.settings ?? [])];
  const settings = [...SETTINGS, ...allowed, ...more].flatMap((setting) => ["-c", setting]);
  return new Promise((resolve, reject) => {
    context.signal?.throwIfAborted();
    const child = spawn("git", [...settings, ...args], {
      cwd: context.folder,
      detached: true,
      stdio: [input === "" ? "ignore" : "pipe", "pipe", "pipe"],
      env: environment(context, options),
    });
    // Git runs no code of a repository, so git need not wait for `add`.
    if (child.pid !== undefined) context.tree.add(child.pid).catch(reject);
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let bytesRead = 0;
    const keep = (into: Buffer[]) => (chunk: Buffer) => {
      bytesRead += chunk.length;
      if (bytesRead <= OUTPUT_LIMIT) into.push(chunk);
    };
    child.stdout?.on("data", options.read ?? keep(out));
    child.stderr?.on("data", keep(err));
    // Git may exit without reading its input. The exit code then explains why.
    child.stdin?.on("error", () => {});
    if (typeof input === "string") child.stdin?.end(input);
    else if (child.stdin) input.pipe(child.stdin);
    // The transport is git's child, and may wait for a host that never answers.
    const interrupt = (): void => {
      if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
    };
    context.signal?.addEventListener("abort", interrupt, { once: true });
    const settle = (action: () => void): void => {
      context.signal?.removeEventListener("abort", interrupt);
      if (context.signal?.aborted) reject(context.signal.reason);
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
