import { spawn } from "node:child_process";
import { join } from "node:path";
import { MIB } from "../../protocol/units.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import { runAs, type StepUser } from "../process/step-user.ts";

/** The agent's variables for the network and the package sources. None of them is a token. */
const PASSED_ON = new Set(
  [
    "PATH LANG LC_ALL TZ HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY",
    "SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS CURL_CA_BUNDLE REQUESTS_CA_BUNDLE PIP_CERT GIT_SSL_CAINFO",
    "NPM_CONFIG_CAFILE NPM_CONFIG_REGISTRY NPM_CONFIG_PROXY NPM_CONFIG_HTTPS_PROXY NPM_CONFIG_NOPROXY",
    "PIP_INDEX_URL UV_INDEX_URL GOPROXY GOSUMDB",
    "MISE_URL_REPLACEMENTS MISE_OFFLINE MISE_HTTP_TIMEOUT MISE_HTTP_RETRIES MISE_USE_VERSIONS_HOST",
  ].flatMap((line) => line.split(" ")),
);
const MIRROR = /^MISE_[A-Z]+(?:_[A-Z]+)*_(?:MIRROR|MIRROR_URL|REGISTRY_URL|PRECOMPILED_URL|REPO)$/;

/** Reports whether an address contains a password. Such a registry address would be a token. */
const isSecretAddress = (name: string, value: string): boolean =>
  !/PROXY$/.test(name) && /^[a-z+]+:\/\/[^/]*@/i.test(value);

const passedOn = (own: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(own).flatMap(([name, value = ""]) => {
      const upper = name.toUpperCase();
      const isPassed = PASSED_ON.has(upper) || MIRROR.test(name);
      return isPassed && value !== "" && !isSecretAddress(upper, value) ? [[name, value]] : [];
    }),
  );

/**
 * Returns mise's environment in the folder `root`. Mise reads only the configuration in `root`/run, and none from the
 * machine, its user, or a parent folder.
 */
export const miseEnvironment = (root: string, own: NodeJS.ProcessEnv = process.env): Record<string, string> => {
  const at = (name: string): string => join(root, name);
  return {
    ...passedOn(own),
    HOME: at("home"),
    TMPDIR: at("tmp"),
    MISE_SAFE: "1",
    MISE_DATA_DIR: at("data"),
    MISE_CACHE_DIR: at("cache"),
    MISE_STATE_DIR: at("state"),
    MISE_CONFIG_DIR: at("config"),
    MISE_TMP_DIR: at("tmp"),
    MISE_SYSTEM_DATA_DIR: at("none"),
    MISE_SYSTEM_CONFIG_FILE: at("none"),
    MISE_GLOBAL_CONFIG_FILE: at("none"),
    MISE_CEILING_PATHS: root,
    MISE_OVERRIDE_CONFIG_FILENAMES: "mise.toml",
    MISE_OVERRIDE_TOOL_VERSIONS_FILENAMES: "none",
    MISE_NODE_DEFAULT_PACKAGES_FILE: at("none"),
    MISE_LOCKFILE: "1",
    MISE_NETRC: "0",
    MISE_GITHUB_GH_CLI_TOKENS: "0",
    MISE_USE_VERSIONS_HOST_TRACK: "0",
    MISE_NPM_PACKAGE_MANAGER: "npm",
    MISE_CARGO_HOME: at("data/cargo"),
    MISE_RUSTUP_HOME: at("data/rustup"),
    GIT_TERMINAL_PROMPT: "0",
    npm_config_cache: at("cache/npm"),
    npm_config_update_notifier: "false",
    NO_COLOR: "1",
    CI: "1",
  };
};

export interface MiseRun {
  program: string;
  /** The folder of everything that mise reads and writes. */
  root: string;
  user: StepUser | null;
  tree: ProcessTree;
  /** Milliseconds between SIGTERM and SIGKILL. */
  grace: number;
  signal: AbortSignal;
}

interface MiseEnd {
  code: number;
  stdout: string;
}

/** Maximum characters to keep of the output. The expected output is much shorter. */
const OUTPUT_LIMIT = MIB;

/** Milliseconds for the remaining output to arrive after the process's end. */
const PIPES_MS = 1000;

/**
 * Runs mise as the steps' user. `onLine` gets each line of its output for people.
 * @throws the signal's reason when it was aborted, after all of mise's processes have ended
 */
export const runMise = async (
  { program, root, user, tree, grace, signal }: MiseRun,
  args: string[],
  onLine: (line: string) => void,
): Promise<MiseEnd> => {
  signal.throwIfAborted();
  let terminated: Promise<unknown> | null = null;
  const onAbort = (): void => {
    terminated = tree.terminate(grace);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await new Promise<MiseEnd>((resolve, reject) => {
      const child = spawn(program, args, {
        cwd: join(root, "run"),
        env: { ...miseEnvironment(root), ...tree.env },
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
        ...runAs(user),
      });
      child.on("error", reject);
      if (child.pid !== undefined) tree.add(child.pid).catch(reject);
      let stdout = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        stdout = `${stdout}${text}`.slice(0, OUTPUT_LIMIT);
      });
      let rest = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        const lines = `${rest}${text}`.slice(-OUTPUT_LIMIT).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) onLine(line);
      });
      let leftBehind: NodeJS.Timeout | undefined;
      // A process that an installer left behind may hold the pipes open. The agent ends it instead of waiting.
      child.on("exit", () => {
        leftBehind = setTimeout(() => tree.terminate(grace), PIPES_MS);
      });
      child.on("close", (code) => {
        clearTimeout(leftBehind);
        if (rest !== "") onLine(rest);
        resolve({ code: code ?? 1, stdout });
      });
    });
  } finally {
    signal.removeEventListener("abort", onAbort);
    await terminated;
    signal.throwIfAborted();
  }
};
