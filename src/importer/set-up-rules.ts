import { patternProblem } from "../domain/patterns.ts";
import { isToolName } from "../pipeline/fields/tool-fields.ts";
import type { ActionInputs } from "./action-inputs.ts";
import { type Beside, versionInFile } from "./beside.ts";
import { isCacheName, type KnownCache } from "./known-caches.ts";
import { NoEqual } from "./marks.ts";
import type { VersionWords } from "./tool-versions.ts";

/* Translates set-up actions to tools, caches, and commands. */

/** A tool, and the places of its version. */
export interface ToolInput extends VersionWords {
  /** The input that names the version. */
  version?: string;
  /** The input that names a file with the version. */
  file?: string;
  /** Files to search if no input names one. The first with a version counts. */
  files?: readonly string[];
  /** The default version. Without it, a mark says that the job uses the agent's own version. */
  otherwise?: string;
  /** Whether the action skips this tool if no input names it. */
  isOptional?: boolean;
  /** Whether the input may name several versions. The last one is the default. */
  isSeveral?: boolean;
}

export interface Commands {
  run: string;
  folder?: string | undefined;
}

/** What a row knows about the step: `ref` is the action's part after the `@`. */
export interface SetUpPlace {
  inputs: ActionInputs;
  ref: string;
  beside: Beside | undefined;
  /** Parses a mapping within a file's limits. @throws if the text is not a mapping */
  readYaml(text: string): unknown;
  /** Returns all possible texts of a text with matrix keys; undefined if they are not in the file. */
  valuesOf(text: string): string[] | undefined;
}

export interface SetUp {
  tools?: readonly ToolInput[];
  /** Returns versions that the row reads itself, by tool. */
  versions?(place: SetUpPlace): Map<string, string>;
  caches?(place: SetUpPlace): KnownCache[];
  commands?(place: SetUpPlace): Commands | undefined;
  /** Returns outputs for later steps, as expressions of this service. */
  outputs?(place: SetUpPlace): Map<string, string>;
  /** The agent's alternative requirement, as a key of `requires`. */
  requires?: "android";
  /** Inputs that do not affect the tool. */
  harmless?: string;
}

/** Joins words of a command, with each input unchanged. */
const words = (...parts: (string | undefined)[]): string => parts.filter((one) => one !== undefined).join(" ");

export const cacheOf = (name: KnownCache["name"], key: string, files?: string) => ({
  caches: ({ inputs }: SetUpPlace): KnownCache[] => {
    const own = files === undefined ? [] : inputs.list(files);
    return inputs.isOn(key) ? [{ name, files: own }] : [];
  },
});

/** Returns the cache that `cache: npm` and the like name. */
export const namedCache = ({ inputs }: SetUpPlace): KnownCache[] => {
  const files = inputs.list("cache-dependency-path");
  const name = inputs.text("cache");
  if (name === undefined || name === "false") return [];
  if (!isCacheName(name)) throw new NoEqual(`\`cache: ${name}\``, "cache");
  return [{ name, files }];
};

export const LTS = Object.fromEntries(
  ["argon", "boron", "carbon", "dubnium", "erbium", "fermium", "gallium", "hydrogen", "iron", "jod", "krypton"].map(
    (name) => [`lts/${name}`, `lts-${name}`],
  ),
);
export const LATEST = { latest: "latest" };

/** Returns caches for a workspace's folders, written as `app -> target` or `app`. */
export const cargoCaches = ({ inputs }: SetUpPlace): KnownCache[] => {
  inputs.pass(..."key shared-key prefix-key add-job-id-key add-rust-environment-hash-key env-vars save-if".split(" "));
  inputs.pass(
    ..."cache-on-failure cache-all-crates cache-bin cache-targets cache-provider cache-workspace-crates lookup-only".split(
      " ",
    ),
  );
  const targets = inputs.list("workspaces").map((one) => {
    const [folder = "", target = "target"] = one.split("->").map((part) => part.trim().replace(/^\.\/?|\/$/g, ""));
    return folder === "" ? target || "target" : `${folder}/${target}`;
  });
  const more = inputs.list("cache-directories");
  if (targets.length + more.length === 0) return [{ name: "cargo" }];
  const own = targets.length > 0 ? targets : ["target"];
  return [{ name: "cargo", path: ["~/.cargo/registry", "~/.cargo/git", ...own, ...more] }];
};

/** Components of every toolchain. */
const OF_EACH_RUST = new Set(["cargo", "clippy", "rust-std", "rustc", "rustfmt"]);

/** Returns the toolchain that a `rust-toolchain` file names; undefined if the file requires more. */
const rustIn = (text: string): string | undefined => {
  if (!text.includes("=")) return text.trim();
  const keys = new Map([...text.matchAll(/^\s*(\w+)\s*=\s*(.*)$/gm)].map(([, key = "", value = ""]) => [key, value]));
  const [, list = ""] = /\bcomponents\s*=\s*\[([^\]]*)\]/.exec(text) ?? [];
  const components = [...list.matchAll(/[\w-]+/g)].map(([name]) => name);
  const isAlone = [...keys.keys()].every((key) => key === "channel" || key === "components");
  return isAlone && components.every((one) => OF_EACH_RUST.has(one))
    ? /^(["'])([^"']*)\1/.exec(keys.get("channel") ?? "")?.[2]
    : undefined;
};

/**
 * Returns a Rust toolchain. On GitHub a `rust-toolchain` file overrides it, but not here. A file with another toolchain
 * therefore has no equivalent.
 */
const rustVersion = ({ inputs, ref, beside }: SetUpPlace): Map<string, string> => {
  const named = inputs.text("toolchain");
  const version = named ?? (/^(?:v\d+|master|main|[0-9a-f]{40})$/.test(ref) ? undefined : ref);
  if (version === undefined) throw new NoEqual("a Rust toolchain that only a comment names", "tool");
  if (!beside)
    throw new NoEqual(
      `rust ${version} (a rust-toolchain file would override it, and the importer cannot look for one)`,
      "tool",
    );
  const file = beside("rust-toolchain.toml") ?? beside("rust-toolchain");
  if (file !== undefined && rustIn(file) !== version)
    throw new NoEqual(`rust ${version}, which a rust-toolchain file overrides on GitHub`, "tool");
  return new Map([["rust", version]]);
};

const rustCommands = ({ inputs }: SetUpPlace): Commands | undefined => {
  const parts = inputs.list("components").flatMap((one) => one.split(/\s+/));
  const targets = [...inputs.list("targets"), ...inputs.list("target")].flatMap((one) => one.split(/\s+/));
  const lines = [
    ...(parts.length > 0 ? [`rustup component add ${parts.join(" ")}`] : []),
    ...(targets.length > 0 ? [`rustup target add ${targets.join(" ")}`] : []),
  ];
  return lines.length > 0 ? { run: lines.join("\n") } : undefined;
};

export const RUST: SetUp = {
  tools: [{ tool: "rust", exact: /^(?:stable|beta|nightly)(?:-\d{4}-\d\d-\d\d)?$/ }],
  versions: rustVersion,
  commands: rustCommands,
  harmless: "profile override default",
};

/** Returns commands for `bundler-cache: true`, which installs and keeps the gems. */
export const bundleInstall = ({ inputs }: SetUpPlace): Commands | undefined => {
  const folder = inputs.fixed("working-directory");
  if (!inputs.isOn("bundler-cache")) return undefined;
  return {
    run: [
      'bundle config set --local path "$PWD/vendor/bundle"',
      'if [ -f "${BUNDLE_GEMFILE:-Gemfile}.lock" ]; then bundle config set --local deployment true; fi',
      "bundle install --jobs 4",
    ].join("\n"),
    folder,
  };
};

/** Returns commands for `arguments` of the Gradle actions before version 4, which run Gradle. */
const gradleCommands = ({ inputs }: SetUpPlace): Commands | undefined => {
  const folder = inputs.text("build-root-directory");
  const own = inputs.text("arguments");
  return own === undefined ? undefined : { run: words("./gradlew", own.replaceAll(/\s*\n\s*/g, " ")), folder };
};

export const GRADLE: SetUp = {
  tools: [{ tool: "gradle", version: "gradle-version", words: { wrapper: "", current: "latest" }, isOptional: true }],
  commands: gradleCommands,
  caches: ({ inputs }) => (inputs.isOn("cache-disabled") ? [] : [{ name: "gradle" }]),
  harmless:
    "cache-read-only cache-write-only cache-overwrite-existing cache-encryption-key cache-cleanup validate-wrappers add-job-summary add-job-summary-as-pr-comment gradle-home-cache-cleanup gradle-home-cache-includes gradle-home-cache-excludes gradle-home-cache-strict-match cache-provider",
};

/** Returns a check of all Pythons except the last: the agent must have them. The action would install them. */
export const otherPythons = ({ inputs }: SetUpPlace): Commands | undefined => {
  const versions = (inputs.peek("python-version") ?? "").split(/\s*\n\s*/);
  if (versions.length === 1) return undefined;
  if (!versions.every((one) => /^\d+\.\d+$/.test(one))) throw new NoEqual("several versions of python", "tool");
  const check = 'command -v "python$version" || { echo "python$version is missing: install it" >&2; exit 1; }';
  return { run: `for version in ${versions.slice(0, -1).join(" ")}; do\n  ${check}\ndone` };
};

/**
 * Returns a check of the extensions. The check fails if PHP lacks one of them. The action would install a missing one.
 */
export const phpExtensions = (inputs: ActionInputs): Commands | undefined => {
  const text = inputs.peek("extensions");
  const names = text?.split(/[\n,]/).flatMap((one) => one.trim() || []) ?? [];
  if (names.length === 0 || !names.every((one) => /^(?!none$|opcache$)[a-z][a-z0-9_]*$/i.test(one))) return undefined;
  inputs.pass("extensions");
  const check = "php -r \"exit(extension_loaded('$name') ? 0 : 1);\"";
  return {
    run: [
      `for name in ${names.join(" ")}; do`,
      `  ${check} || { echo "this PHP has no extension $name: install it" >&2; exit 1; }`,
      "done",
    ].join("\n"),
  };
};

export const composerInstall = ({ inputs }: SetUpPlace): Commands => {
  const which = inputs.text("dependency-versions") ?? "locked";
  const verb = { locked: "install", highest: "update", lowest: "update --prefer-lowest --prefer-stable" }[which];
  if (verb === undefined) throw new NoEqual(`\`dependency-versions: ${which}\``, "action-input");
  const own = inputs.text("composer-options");
  return {
    run: words("composer", verb, "--no-interaction --no-progress --ansi", own),
    folder: inputs.text("working-directory"),
  };
};

export const lint = ({ inputs }: SetUpPlace): Commands => ({
  run: words("golangci-lint run", inputs.text("args")?.replaceAll(/\s*\n\s*/g, " ")),
  folder: inputs.text("working-directory"),
});

/** Cargo subcommands that actions call by their own names. */
const CRATES = new Set(
  "nextest hack llvm-cov deny insta machete udeps audit semver-checks minimal-versions".split(" "),
);

/** Reads `tool: nextest@0.9, cargo-hack`: each tool under its name in `tools`. */
export const installed = ({ inputs, ref }: SetUpPlace): Map<string, string> => {
  const named = inputs.list("tool").flatMap((one) => one.split(/\s+/));
  const all = named.length > 0 || /^(?:v\d|main$|[0-9a-f]{40}$)/.test(ref) ? named : [ref];
  if (all.length === 0) throw new NoEqual("a tool that only a comment names", "tool");
  return new Map(
    all.map((one) => {
      const [name = "", version = "latest"] = one.split("@");
      const crate = name.startsWith("cargo-") || !CRATES.has(name) ? name : `cargo-${name}`;
      const known = [name, crate, `cargo:${crate}`].find(isToolName);
      if (known === undefined || (known !== name && !crate.startsWith("cargo-")))
        throw new NoEqual(`the tool ${name}`, "tool");
      return [known, version];
    }),
  );
};

/** Accepts the Flutter channel that `tools` has. @throws {NoEqual} */
export const stableFlutter = ({ inputs, valuesOf }: SetUpPlace): Map<string, string> => {
  const channel = inputs.text("channel") ?? "stable";
  if (valuesOf(channel)?.every((one) => one === "stable" || one === "") !== true)
    throw new NoEqual(`flutter from the channel ${channel}`, "tool");
  return new Map();
};

/** Returns the newest version if the project's files require none. */
export const uvVersion = ({ inputs, beside }: SetUpPlace): Map<string, string> => {
  const isNamed = inputs.has("version") || inputs.has("version-file");
  const isOpen = beside && ["pyproject.toml", "uv.toml"].every((file) => !beside(file)?.includes("required-version"));
  return new Map(!isNamed && isOpen ? [["uv", "latest"]] : []);
};

export const pnpmVersion = ({ inputs, beside }: SetUpPlace): Map<string, string> => {
  const file = inputs.fixed("package_json_file");
  const version = file === undefined ? undefined : beside && versionInFile("pnpm", file, beside);
  return new Map(version === undefined ? [] : [["pnpm", version]]);
};

export const pnpmInstall = ({ inputs }: SetUpPlace): Commands | undefined => {
  const install = inputs.peek("run_install");
  if (/^(?:true|false|null)$/.test(install ?? "")) inputs.pass("run_install");
  return install === "true" ? { run: "pnpm install" } : undefined;
};

/** Signs with a meaning in that action's patterns, but not here. */
const OTHER_SIGNS = /[!?+@()[\]{}|\\]/;

/** Returns the `filters` by name, each with the patterns for `changed`. @throws {NoEqual} */
export const changedBy = ({ inputs, readYaml }: SetUpPlace): Map<string, string> => {
  const text = inputs.fixed("filters") ?? "";
  let filters: unknown;
  try {
    filters = readYaml(text);
  } catch {
    throw new NoEqual("filters that are invalid, or in another file", "action");
  }
  return new Map(
    Object.entries(filters as object).map(([name, value]) => {
      const patterns = [value].flat(5).map((one) => (typeof one === "string" ? one.replace(/^\.\//, "") : "!"));
      for (const one of patterns)
        if (OTHER_SIGNS.test(one) || patternProblem(one, "path") !== null)
          throw new NoEqual(`the filter ${name}`, "pattern");
      const quoted = patterns.map((one) => `'${one.replaceAll("'", "''")}'`).join(", ");
      return [name.toLowerCase(), `format('{0}', changed(${quoted}))`];
    }),
  );
};
