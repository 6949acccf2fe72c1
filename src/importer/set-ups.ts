import { isToolName } from "../pipeline/fields/tool-fields.ts";
import type { ActionInputs } from "./action-inputs.ts";
import { type Beside, versionInFile } from "./beside.ts";
import { isCacheName, type KnownCache } from "./known-caches.ts";
import { NoEqual } from "./marks.ts";
import type { VersionWords } from "./tool-versions.ts";

/* The actions that set something up, each with what it becomes: tools, caches, and commands. */

/** A tool, and where its version stands. */
export interface ToolInput extends VersionWords {
  /** The input that names the version. */
  version?: string;
  /** The input that names a file with it. */
  file?: string;
  /** Files that are looked for where no input names any, the first that has a version counts. */
  files?: readonly string[];
  /** The version where nothing else names one. Without it a mark says that the agent's own is used. */
  otherwise?: string;
  /** Whether the action leaves this tool alone where its inputs do not name it. */
  isOptional?: boolean;
}

export interface Commands {
  run: string;
  folder?: string | undefined;
}

/** What a row is told of the step: `ref` is what stands behind the `@` of the action. */
export interface SetUpPlace {
  inputs: ActionInputs;
  ref: string;
  beside: Beside | undefined;
  /** All texts that a text with keys of the matrix can be; undefined where they are not in the file. */
  valuesOf(text: string): string[] | undefined;
}

export interface SetUp {
  tools?: readonly ToolInput[];
  /** Versions that the row reads by itself, by tool. */
  versions?(place: SetUpPlace): Map<string, string>;
  caches?(place: SetUpPlace): KnownCache[];
  commands?(place: SetUpPlace): Commands | undefined;
  /** Inputs without any effect on what the tool does. */
  harmless?: string;
}

/** Commands of several words, each input as it is. */
const words = (...parts: (string | undefined)[]): string => parts.filter((one) => one !== undefined).join(" ");

const cacheOf = (name: KnownCache["name"], key: string, files?: string) => ({
  caches: ({ inputs }: SetUpPlace): KnownCache[] => {
    const own = files === undefined ? [] : inputs.list(files);
    return inputs.isOn(key) ? [{ name, files: own }] : [];
  },
});

/** `cache: npm`: which one is kept is named. */
const namedCache = ({ inputs }: SetUpPlace): KnownCache[] => {
  const files = inputs.list("cache-dependency-path");
  const name = inputs.text("cache");
  if (name === undefined || name === "false") return [];
  if (!isCacheName(name)) throw new NoEqual(`\`cache: ${name}\``, "cache");
  return [{ name, files }];
};

const LTS = Object.fromEntries(
  ["argon", "boron", "carbon", "dubnium", "erbium", "fermium", "gallium", "hydrogen", "iron", "jod", "krypton"].map(
    (name) => [`lts/${name}`, `lts-${name}`],
  ),
);
const LATEST = { latest: "latest" };

/** Folders of a workspace, as `app -> target` or `app`. */
const cargoCaches = ({ inputs }: SetUpPlace): KnownCache[] => {
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

/**
 * A toolchain of Rust. There a `rust-toolchain` file wins over it, here it does not, so where there is one this cannot
 * be said.
 */
const rustVersion = ({ inputs, ref, beside }: SetUpPlace): Map<string, string> => {
  const named = inputs.text("toolchain");
  const version = named ?? (/^(?:v\d+|master|main|[0-9a-f]{40})$/.test(ref) ? undefined : ref);
  if (version === undefined) throw new NoEqual("a toolchain of Rust that a comment names", "tool");
  if (!beside) throw new NoEqual(`rust ${version} where no file rust-toolchain wins over it`, "tool");
  if (beside("rust-toolchain") !== undefined || beside("rust-toolchain.toml") !== undefined)
    throw new NoEqual(`rust ${version} beside a file rust-toolchain, which wins there`, "tool");
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

const RUST: SetUp = {
  tools: [{ tool: "rust", exact: /^(?:stable|beta|nightly)(?:-\d{4}-\d\d-\d\d)?$/ }],
  versions: rustVersion,
  commands: rustCommands,
  harmless: "profile override default",
};

/** `bundler-cache: true` installs the gems, and keeps them. */
const bundleInstall = ({ inputs }: SetUpPlace): Commands | undefined => {
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

/** `arguments` of the Gradle actions of before their fourth version: they run it. */
const gradleCommands = ({ inputs }: SetUpPlace): Commands | undefined => {
  const folder = inputs.text("build-root-directory");
  const own = inputs.text("arguments");
  return own === undefined ? undefined : { run: words("./gradlew", own.replaceAll(/\s*\n\s*/g, " ")), folder };
};

const GRADLE: SetUp = {
  tools: [{ tool: "gradle", version: "gradle-version", words: { wrapper: "", current: "latest" }, isOptional: true }],
  commands: gradleCommands,
  caches: ({ inputs }) => (inputs.isOn("cache-disabled") ? [] : [{ name: "gradle" }]),
  harmless:
    "cache-read-only cache-write-only cache-overwrite-existing cache-encryption-key cache-cleanup validate-wrappers add-job-summary add-job-summary-as-pr-comment gradle-home-cache-cleanup gradle-home-cache-includes gradle-home-cache-excludes gradle-home-cache-strict-match cache-provider",
};

const composerInstall = ({ inputs }: SetUpPlace): Commands => {
  const which = inputs.text("dependency-versions") ?? "locked";
  const verb = { locked: "install", highest: "update", lowest: "update --prefer-lowest --prefer-stable" }[which];
  if (verb === undefined) throw new NoEqual(`\`dependency-versions: ${which}\``, "action-input");
  const own = inputs.text("composer-options");
  return {
    run: words("composer", verb, "--no-interaction --no-progress --ansi", own),
    folder: inputs.text("working-directory"),
  };
};

const lint = ({ inputs }: SetUpPlace): Commands => ({
  run: words("golangci-lint run", inputs.text("args")?.replaceAll(/\s*\n\s*/g, " ")),
  folder: inputs.text("working-directory"),
});

/** Subcommands of cargo that are called by their own names. */
const CRATES = new Set(
  "nextest hack llvm-cov deny insta machete udeps audit semver-checks minimal-versions".split(" "),
);

/** `tool: nextest@0.9, cargo-hack`: each by the name that `tools` has for it. */
const installed = ({ inputs, ref }: SetUpPlace): Map<string, string> => {
  const named = inputs.list("tool").flatMap((one) => one.split(/\s+/));
  const all = named.length > 0 || /^(?:v\d|main$|[0-9a-f]{40}$)/.test(ref) ? named : [ref];
  if (all.length === 0) throw new NoEqual("a tool that a comment names", "tool");
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

/** One tool whose version is an input, the newest where it is left out. */
const oneTool = (tool: string, version: string, rest: Omit<SetUp, "tools"> = {}): SetUp => ({
  tools: [{ tool, version, otherwise: "latest", words: LATEST }],
  ...rest,
});

/** The channel of Flutter that `tools` has. @throws {NoEqual} */
const stableFlutter = ({ inputs, valuesOf }: SetUpPlace): Map<string, string> => {
  const channel = inputs.text("channel") ?? "stable";
  if (valuesOf(channel)?.every((one) => one === "stable" || one === "") !== true)
    throw new NoEqual(`flutter of the channel ${channel}`, "tool");
  return new Map();
};

/** Where no file of the project asks for a version, the newest is set up. */
const uvVersion = ({ inputs, beside }: SetUpPlace): Map<string, string> => {
  const isNamed = inputs.has("version") || inputs.has("version-file");
  const isOpen = beside && ["pyproject.toml", "uv.toml"].every((file) => !beside(file)?.includes("required-version"));
  return new Map(!isNamed && isOpen ? [["uv", "latest"]] : []);
};

const pnpmVersion = ({ inputs, beside }: SetUpPlace): Map<string, string> => {
  const file = inputs.fixed("package_json_file");
  const version = file === undefined ? undefined : beside && versionInFile("pnpm", file, beside);
  return new Map(version === undefined ? [] : [["pnpm", version]]);
};

const pnpmInstall = ({ inputs }: SetUpPlace): Commands | undefined => {
  const install = inputs.peek("run_install");
  if (/^(?:true|false|null)$/.test(install ?? "")) inputs.pass("run_install");
  return install === "true" ? { run: "pnpm install" } : undefined;
};

/** The actions, by their names without a version. */
export const SET_UPS: Record<string, SetUp> = {
  "actions/setup-node": {
    tools: [
      {
        tool: "node",
        version: "node-version",
        file: "node-version-file",
        words: { "lts/*": "lts", "lts/-0": "lts", ...LTS, ...LATEST, node: "latest", current: "latest" },
      },
    ],
    caches: namedCache,
    harmless: "package-manager-cache",
  },
  "actions/setup-python": {
    tools: [{ tool: "python", version: "python-version", file: "python-version-file", files: [".python-version"] }],
    caches: namedCache,
    harmless: "allow-prereleases update-environment",
  },
  "actions/setup-go": {
    tools: [{ tool: "go", version: "go-version", file: "go-version-file", words: { stable: "latest", ...LATEST } }],
    ...cacheOf("go", "cache", "cache-dependency-path"),
  },
  "actions/setup-java": {
    tools: [{ tool: "java", version: "java-version", file: "java-version-file" }],
    caches: namedCache,
    harmless: "distribution",
  },
  "actions/setup-dotnet": {
    tools: [{ tool: "dotnet", version: "dotnet-version", file: "global-json-file", files: ["global.json"] }],
    ...cacheOf("nuget", "cache", "cache-dependency-path"),
  },
  "ruby/setup-ruby": {
    tools: [
      {
        tool: "ruby",
        version: "ruby-version",
        words: { ruby: "latest" },
        exact: /^(?:jruby|truffleruby)-\d+\.\d+\.\d+(?:\.\d+)?$/,
        files: [".ruby-version", ".tool-versions"],
      },
    ],
    versions: ({ inputs }) => {
      if (inputs.has("working-directory") && !inputs.has("ruby-version"))
        throw new NoEqual("the version of ruby of another folder", "tool");
      return new Map();
    },
    caches: ({ inputs }) => {
      const folder = inputs.peek("working-directory");
      const path = [folder === undefined ? "vendor/bundle" : `${folder}/vendor/bundle`];
      return inputs.peek("bundler-cache") === "true" ? [{ name: "bundler", path }] : [];
    },
    commands: bundleInstall,
    harmless: "cache-version",
  },
  "oven-sh/setup-bun": {
    tools: [
      {
        tool: "bun",
        version: "bun-version",
        file: "bun-version-file",
        words: LATEST,
        files: ["package.json", ".bun-version", ".tool-versions"],
        otherwise: "latest",
      },
    ],
    harmless: "no-cache",
  },
  "denoland/setup-deno": {
    tools: [{ tool: "deno", version: "deno-version", file: "deno-version-file", words: LATEST, otherwise: "2" }],
    ...cacheOf("deno", "cache"),
    harmless: "cache-hash",
  },
  "pnpm/action-setup": {
    tools: [{ tool: "pnpm", version: "version", words: LATEST, files: ["package.json"] }],
    ...cacheOf("pnpm", "cache", "cache_dependency_path"),
    versions: pnpmVersion,
    commands: pnpmInstall,
    harmless: "standalone dest",
  },
  "astral-sh/setup-uv": {
    tools: [{ tool: "uv", version: "version", file: "version-file", words: LATEST }],
    versions: uvVersion,
    commands: ({ inputs }) => {
      const python = inputs.text("python-version");
      return python === undefined ? undefined : { run: `echo "UV_PYTHON=${python}" >> "$GITHUB_ENV"` };
    },
    ...cacheOf("uv", "enable-cache", "cache-dependency-glob"),
    harmless: "cache-suffix prune-cache cache-python ignore-nothing-to-cache ignore-empty-workdir",
  },
  "hashicorp/setup-terraform": oneTool("terraform", "terraform_version", { harmless: "terraform_wrapper" }),
  "opentofu/setup-opentofu": oneTool("opentofu", "tofu_version", { harmless: "tofu_wrapper" }),
  "gradle/actions/setup-gradle": GRADLE,
  "gradle/gradle-build-action": GRADLE,
  "dtolnay/rust-toolchain": RUST,
  "actions-rs/toolchain": RUST,
  "swatinem/rust-cache": { caches: cargoCaches },
  "shivammathur/setup-php": {
    tools: [{ tool: "php", version: "php-version", file: "php-version-file", words: LATEST, otherwise: "latest" }],
    commands: ({ inputs }) => {
      // Composer comes with PHP; a driver of coverage does not.
      for (const key of ["coverage", "tools"] as const)
        if (/^(?:none|composer(?::v2)?)$/.test(inputs.peek(key) ?? "")) inputs.pass(key);
      return undefined;
    },
  },
  "ramsey/composer-install": {
    commands: composerInstall,
    caches: () => [{ name: "composer" }],
    harmless: "custom-cache-key custom-cache-suffix ignore-cache require-lock-file",
  },
  "subosito/flutter-action": {
    tools: [
      {
        tool: "flutter",
        version: "flutter-version",
        file: "flutter-version-file",
        words: { any: "latest" },
        otherwise: "latest",
      },
    ],
    versions: stableFlutter,
    harmless: "cache cache-key cache-path pub-cache pub-cache-key pub-cache-path",
  },
  "dart-lang/setup-dart": {
    tools: [{ tool: "dart", version: "sdk", words: { stable: "latest" }, otherwise: "latest" }],
  },
  "erlef/setup-beam": {
    tools: [
      { tool: "erlang", version: "otp-version", words: LATEST, isOptional: true },
      { tool: "elixir", version: "elixir-version", words: LATEST, isOptional: true },
      { tool: "gleam", version: "gleam-version", words: LATEST, isOptional: true },
    ],
    commands: ({ inputs }) => {
      const isElixir = inputs.has("elixir-version");
      const lines = [
        ...(inputs.isOn("install-hex", isElixir) ? ["mix local.hex --force"] : []),
        ...(inputs.isOn("install-rebar", isElixir) ? ["mix local.rebar --force"] : []),
      ];
      return isElixir && lines.length > 0 ? { run: lines.join("\n") } : undefined;
    },
    harmless: "version-type",
  },
  "haskell-actions/setup": {
    tools: [
      { tool: "ghc", version: "ghc-version", words: LATEST, otherwise: "latest" },
      { tool: "cabal", version: "cabal-version", words: LATEST, otherwise: "latest" },
    ],
    commands: ({ inputs }) => (inputs.isOn("cabal-update", true) ? { run: "cabal update" } : undefined),
  },
  "mlugg/setup-zig": {
    tools: [{ tool: "zig", version: "version", words: LATEST }],
    harmless: "use-cache cache-key cache-size-limit",
  },
  "goto-bus-stop/setup-zig": { tools: [{ tool: "zig", version: "version", words: LATEST }], harmless: "cache" },
  "sbt/setup-sbt": oneTool("sbt", "sbt-runner-version"),
  "golangci/golangci-lint-action": {
    tools: [{ tool: "golangci-lint", version: "version", words: LATEST, otherwise: "latest" }],
    commands: lint,
    harmless: "install-mode skip-cache skip-save-cache cache-invalidation-interval verify problem-matchers",
  },
  "maxim-lobanov/setup-xcode": { tools: [{ tool: "xcode", version: "xcode-version" }] },
  "taiki-e/install-action": { tools: [], versions: installed, harmless: "checksum fallback" },
  "extractions/setup-just": oneTool("just", "just-version"),
  "arduino/setup-task": oneTool("task", "version"),
  "bufbuild/buf-setup-action": oneTool("buf", "version"),
  "azure/setup-helm": oneTool("helm", "version"),
  "azure/setup-kubectl": oneTool("kubectl", "version"),
  "sigstore/cosign-installer": oneTool("cosign", "cosign-release"),
};

export const isSetUp = (action: string): boolean => Object.hasOwn(SET_UPS, action.toLowerCase());
