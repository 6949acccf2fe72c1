import { NoEqual } from "./marks.ts";
import {
  bundleInstall,
  cacheOf,
  cargoCaches,
  changedBy,
  composerInstall,
  GRADLE,
  installed,
  LATEST,
  LTS,
  lint,
  namedCache,
  otherPythons,
  phpExtensions,
  pnpmInstall,
  pnpmVersion,
  RUST,
  type SetUp,
  stableFlutter,
  uvVersion,
} from "./set-up-rules.ts";

/* The set-up actions, each with its translation. */

/** Describes one tool with its version in an input. A missing input means the newest version. */
const oneTool = (tool: string, version: string, rest: Omit<SetUp, "tools"> = {}): SetUp => ({
  tools: [{ tool, version, otherwise: "latest", words: LATEST }],
  ...rest,
});

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
    tools: [
      {
        tool: "python",
        version: "python-version",
        file: "python-version-file",
        files: [".python-version"],
        isSeveral: true,
      },
    ],
    commands: otherPythons,
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
        throw new NoEqual("ruby with the version of another folder", "tool");
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
      // Composer comes with PHP; a coverage driver does not.
      for (const key of ["coverage", "tools"] as const)
        if (/^(?:none|composer(?::v2)?)$/.test(inputs.peek(key) ?? "")) inputs.pass(key);
      return phpExtensions(inputs);
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
  "flutter-actions/setup-flutter": {
    tools: [{ tool: "flutter", version: "version", words: LATEST, otherwise: "latest" }],
    versions: stableFlutter,
    harmless: "cache cache-sdk cache-key",
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
  "android-actions/setup-android": {
    requires: "android",
    harmless: "cmdline-tools-version accept-android-sdk-licenses log-accepted-android-sdk-licenses",
  },
  "dorny/paths-filter": { outputs: changedBy, harmless: "list-files" },
  "extractions/setup-just": oneTool("just", "just-version"),
  "arduino/setup-task": oneTool("task", "version"),
  "bufbuild/buf-setup-action": oneTool("buf", "version"),
  "azure/setup-helm": oneTool("helm", "version"),
  "azure/setup-kubectl": oneTool("kubectl", "version"),
  "sigstore/cosign-installer": oneTool("cosign", "cosign-release"),
};

export const isSetUp = (action: string): boolean => Object.hasOwn(SET_UPS, action.toLowerCase());
