import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { SET_UPS } from "../../src/importer/set-ups.ts";
import { isToolName } from "../../src/pipeline/fields/tool-fields.ts";
import { deliveredImporter, translate } from "./support/importer.ts";

const importer = await deliveredImporter();

type Files = Record<string, string>;

const workflow = (uses: string, inputs: string, more = ""): string =>
  `on: push\nenv: { GO: '1.24', N: 22.x }\njobs:\n  a:\n    runs-on: ubuntu-latest\n${more}    steps:\n      - uses: ${uses}\n${
    inputs === "" ? "" : `        with: ${inputs}\n`
  }      - run: make\n`;

interface Job {
  tools?: Record<string, string> | "auto";
  cache?: { name: string; path: string | string[]; files: string | string[] }[];
  steps: { run: string; "working-directory"?: string; if?: string }[];
}

const jobOf = async (text: string, files?: Files) => {
  const made = await translate(importer, text, files);
  return { job: parse(made.text).jobs.a as Job, ...made };
};

type Row = [uses: string, inputs: string, tools: Job["tools"], files?: Files];
const NONE: Files = {};

const TOOLS: Row[] = [
  ["actions/setup-node@v4", "{ node-version: 24 }", { node: "24" }],
  ["actions/setup-node@v4", "{ node-version: 22.x }", { node: "22" }],
  ["actions/setup-node@v4", "{ node-version: lts/* }", { node: "lts" }],
  ["actions/setup-node@v4", "{ node-version: lts/Iron }", undefined],
  ["actions/setup-node@v4", "{ node-version: ^18 || >=20 }", { node: "latest" }],
  ["actions/setup-node@v4", "{ node-version: '${{ env.N }}' }", { node: "22" }],
  ["actions/setup-node@v4", "{ node-version-file: .nvmrc }", "auto"],
  [
    "actions/setup-node@v4",
    "{ node-version-file: .nvmrc }",
    { node: "22" },
    { ".nvmrc": "v22\n", ".tool-versions": "" },
  ],
  ["actions/setup-node@v4", "{ node-version-file: app/.nvmrc }", { node: "22.4.1" }, { "app/.nvmrc": "v22.4.1\n" }],
  [
    "actions/setup-node@v4",
    "{ node-version-file: package.json }",
    { node: "latest" },
    { "package.json": '{"engines": {"node": ">=20"}}' },
  ],
  [
    "actions/setup-node@v4",
    "{ node-version-file: package.json }",
    { node: "20.1.0" },
    { "package.json": '{"volta": {"node": "20.1.0"}, "engines": {"node": ">=18"}}' },
  ],
  ["actions/setup-python@v5", "{ python-version: '3.10' }", { python: "3.10" }],
  ["actions/setup-python@v5", "{ python-version: 3.x, allow-prereleases: true }", { python: "3" }],
  ["actions/setup-python@v5", '{ python-version: "3.11\\n3.12" }', { python: "3.12" }],
  ["actions/setup-python@v5", "", "auto", { ".python-version": "3.12\n" }],
  ["actions/setup-go@v5", "{ go-version: 1.24 }", { go: "1.24" }],
  ["actions/setup-go@v5", "{ go-version: ^1.22 }", { go: "1" }],
  ["actions/setup-go@v5", "{ go-version: '${{ env.GO }}' }", { go: "1.24" }],
  ["actions/setup-go@v5", "{ go-version-file: go.mod }", { go: "1.24.2" }, { "go.mod": "module a\n\ngo 1.24.2\n" }],
  [
    "actions/setup-go@v5",
    "{ go-version-file: go.mod }",
    { go: "1.25.1" },
    { "go.mod": "module a\n\ngo 1.24\ntoolchain go1.25.1\n" },
  ],
  ["actions/setup-java@v4", "{ distribution: temurin, java-version: 21 }", { java: "temurin-21" }],
  ["actions/setup-dotnet@v4", "{ dotnet-version: 9.0.x }", { dotnet: "9.0" }],
  ["actions/setup-dotnet@v4", "", { dotnet: "9.0.100" }, { "global.json": '{"sdk": {"version": "9.0.100"}}' }],
  [
    "actions/setup-dotnet@v4",
    "",
    { dotnet: "9.0" },
    { "global.json": '{"sdk": {"version": "9.0.100", "rollForward": "latestFeature"}}' },
  ],
  ["ruby/setup-ruby@v1", "{ ruby-version: '3.4' }", { ruby: "3.4" }],
  ["ruby/setup-ruby@v1", "{ ruby-version: ruby }", { ruby: "latest" }],
  ["ruby/setup-ruby@v1", "{ ruby-version: jruby-9.4.8.0 }", { ruby: "jruby-9.4.8.0" }],
  ["ruby/setup-ruby@v1", "{ ruby-version: .ruby-version }", { ruby: "3.4.1" }, { ".ruby-version": "ruby-3.4.1\n" }],
  ["ruby/setup-ruby@v1", "", { ruby: "3.3" }, { ".ruby-version": "3.3\n" }],
  ["oven-sh/setup-bun@v2", "", { bun: "latest" }, NONE],
  ["oven-sh/setup-bun@v2", "", { bun: "1.2.3" }, { "package.json": '{"packageManager": "bun@1.2.3"}' }],
  ["denoland/setup-deno@v2", "{ deno-version: v2.x }", { deno: "2" }],
  ["pnpm/action-setup@v4", "", { pnpm: "9.1.0" }, { "package.json": '{"packageManager": "pnpm@9.1.0+sha512.ab"}' }],
  ["pnpm/action-setup@v4", "{ version: 10 }", { pnpm: "10" }],
  ["astral-sh/setup-uv@v6", "", { uv: "latest" }, NONE],
  ["hashicorp/setup-terraform@v3", "{ terraform_version: ~1.9 }", { terraform: "1.9" }],
  ["dtolnay/rust-toolchain@stable", "", { rust: "stable" }, NONE],
  ["dtolnay/rust-toolchain@1.91.1", "", { rust: "1.91.1" }, { "rust-toolchain": "1.91.1\n" }],
  [
    ...(["dtolnay/rust-toolchain@1.91.1", "", { rust: "1.91.1" }] as const),
    { "rust-toolchain.toml": '[toolchain]\nchannel = "1.91.1"\ncomponents = ["clippy"]\n' },
  ],
  ["dtolnay/rust-toolchain@master", "{ toolchain: nightly-2026-01-02 }", { rust: "nightly-2026-01-02" }, NONE],
  ["actions-rs/toolchain@v1", "{ toolchain: 1.80, profile: minimal, override: true }", { rust: "1.8" }, NONE],
  ["shivammathur/setup-php@v2", "{ php-version: '8.4', coverage: none }", { php: "8.4" }],
  ["subosito/flutter-action@v2", "{ channel: stable, cache: true }", { flutter: "latest" }],
  ["subosito/flutter-action@v2", "{ flutter-version: 3.35.x }", { flutter: "3.35" }],
  ["flutter-actions/setup-flutter@v4", "{ channel: stable, version: 3.35 }", { flutter: "3.35" }],
  ["dart-lang/setup-dart@v1", "", { dart: "latest" }],
  ["erlef/setup-beam@v1", "{ otp-version: 27, elixir-version: '1.18' }", { erlang: "27", elixir: "1.18" }],
  ["haskell-actions/setup@v2", "{ ghc-version: '9.10', cabal-version: '3.14' }", { ghc: "9.10", cabal: "3.14" }],
  ["mlugg/setup-zig@v2", "{ version: 0.14.0 }", { zig: "0.14.0" }],
  ["golangci/golangci-lint-action@v9", "{ version: v2.4 }", { "golangci-lint": "2.4" }],
  ["maxim-lobanov/setup-xcode@v1", "{ xcode-version: '26.1' }", { xcode: "26.1" }],
  ["taiki-e/install-action@v2", "{ tool: 'nextest,just@1.40' }", { "cargo:cargo-nextest": "latest", just: "1.4" }],
  ["gradle/actions/setup-gradle@v4", "{ gradle-version: 8.14 }", { gradle: "8.14" }],
];

describe("the tool that an action sets up", () => {
  it.each(
    TOOLS.filter(([, inputs, tools]) => tools !== undefined && !inputs.includes("1.80") && !inputs.includes("just@")),
  )("%s with %s", async (uses, inputs, tools, files) => {
    const { job, kinds } = await jobOf(workflow(uses, inputs), files);
    expect(job.tools).toEqual(tools);
    expect(kinds).toEqual([]);
  });

  const MARKED: [uses: string, inputs: string, kind: string, files?: Files][] = [
    ["actions/setup-node@v4", "{ node-version: 18 - 20 }", "tool"],
    ["actions/setup-node@v4", "{ node-version: '${{ env.OTHER }}' }", "tool"],
    ["actions/setup-node@v4", "{ node-version-file: package.json }", "tool", { "package.json": "{}" }],
    ["actions/setup-node@v4", "{ node-version: 24, architecture: x86 }", "action-input"],
    ["actions/setup-python@v5", "{ python-version: pypy-3.11 }", "tool"],
    ["actions/setup-python@v5", '{ python-version: "3.11\\npypy-3.11" }', "tool"],
    ["actions/setup-dotnet@v4", '{ dotnet-version: "8\\n9" }', "tool"],
    ["actions/setup-go@v5", "{ go-version-file: go.mod }", "tool"],
    ["actions/setup-java@v4", "{ distribution: jetbrains, java-version: 21 }", "tool"],
    ["ruby/setup-ruby@v1", "", "tool", NONE],
    ["ruby/setup-ruby@v1", "{ working-directory: app }", "tool", { ".ruby-version": "3.4" }],
    ["pnpm/action-setup@v4", "", "tool", NONE],
    ["astral-sh/setup-uv@v6", "", "tool", { "pyproject.toml": '[tool.uv]\nrequired-version = ">=0.5"\n' }],
    ["astral-sh/setup-uv@v6", "", "tool"],
    ["dtolnay/rust-toolchain@stable", "", "tool"],
    ["dtolnay/rust-toolchain@stable", "", "tool", { "rust-toolchain.toml": "" }],
    ["dtolnay/rust-toolchain@1.91.1", "", "tool", { "rust-toolchain": "1.91.0\n" }],
    ...["components = ['llvm-tools']", "components = [\n 'llvm-tools',\n]", "targets = ['wasm32-wasip1']"].map(
      (line): [string, string, string, Record<string, string>] => [
        ...(["dtolnay/rust-toolchain@1.91.1", "", "tool"] as const),
        { "rust-toolchain.toml": `[toolchain]\nchannel = "1.91.1"\n${line}\n` },
      ],
    ),
    ["dtolnay/rust-toolchain@0123456789012345678901234567890123456789", "", "tool", NONE],
    ["shivammathur/setup-php@v2", "{ php-version: '8.4', extensions: 'intl, :xdebug' }", "action-input"],
    ["subosito/flutter-action@v2", "{ channel: beta }", "tool"],
    ["mlugg/setup-zig@v2", "", "tool"],
    ["maxim-lobanov/setup-xcode@v1", "{ xcode-version: latest-stable }", "tool"],
    ["taiki-e/install-action@v2", "{ tool: nothing-of-this-name }", "tool"],
  ];

  it.each(MARKED)("gets a mark without an equivalent: %s with %s", async (uses, inputs, kind, files) => {
    expect((await jobOf(workflow(uses, inputs), files)).kinds).toEqual([kind]);
  });

  it("gets a mark under a condition, and with two versions", async () => {
    const steps = (list: string) =>
      `on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n${list}      - run: make\n`;
    const node = (version: number, more = "") =>
      `      - uses: actions/setup-node@v4\n${more}        with: { node-version: ${version} }\n`;
    expect((await jobOf(steps(node(24, "        if: github.ref_name == 'a'\n")))).kinds).toEqual(["tool"]);
    expect((await jobOf(steps(node(24) + node(22)))).kinds).toEqual(["tool"]);
    expect((await jobOf(steps(node(24) + node(24)))).kinds).toEqual([]);
  });

  it("is the same for each combination of a matrix", async () => {
    const matrix = "    strategy: { matrix: { v: [18.x, 22, lts/*] } }\n";
    const { job, kinds } = await jobOf(
      workflow("actions/setup-node@v4", "{ node-version: '${{ matrix.v }}' }", matrix),
    );
    expect(kinds).toEqual([]);
    expect(job.tools).toEqual({ node: "${{ case(matrix.v == '18.x', '18', matrix.v == 'lts/*', 'lts', matrix.v) }}" });
    const made = await jobOf(workflow("actions/setup-node@v4", "{ node-version: '${{ matrix.v }}.1' }", matrix));
    expect(made.kinds).toEqual(["tool"]);
  });

  it("gets a mark if a step may change the variable that names it", async () => {
    const changed = workflow("actions/setup-go@v5", "{ go-version: '${{ env.GO }}' }").replace(
      "steps:\n",
      'steps:\n      - run: echo "GO=1.25" >> $GITHUB_ENV\n',
    );
    expect((await jobOf(changed)).kinds).toEqual(["tool"]);
  });

  it("is read from its file beside other tools", async () => {
    const list =
      "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/setup-node@v4\n        with: { node-version-file: .nvmrc }\n      - uses: actions/setup-go@v5\n        with: { go-version: 1.25 }\n      - run: make\n";
    const { job, kinds } = await jobOf(list, { ".nvmrc": "lts/jod\n" });
    expect(job.tools).toEqual({ node: "lts-jod", go: "1.25" });
    expect(kinds).toEqual([]);
    expect((await jobOf(list)).kinds).toEqual(["tool"]);
  });

  it("has a name that `tools` knows", () => {
    const names = Object.values(SET_UPS).flatMap(({ tools = [] }) => tools.map(({ tool }) => tool));
    expect(names.filter((name) => !isToolName(name))).toEqual([]);
    expect(isToolName("no-such-tool")).toBe(false);
  });
});

describe("the cache of a set-up action", () => {
  it.each([
    ["actions/setup-node@v4", "{ node-version: 24, cache: npm }", "npm", "~/.npm"],
    ["actions/setup-java@v4", "{ java-version: 21, cache: gradle }", "gradle", "~/.gradle/caches"],
    ["actions/setup-go@v5", "{ go-version: 1.25, cache: true }", "go", "~/go/pkg/mod"],
    ["Swatinem/rust-cache@v2", "{ shared-key: a }", "cargo", "target"],
    ["Swatinem/rust-cache@v2", "{ workspaces: 'cli -> out' }", "cargo", "cli/out"],
    ["gradle/actions/setup-gradle@v4", "", "gradle", "~/.gradle/wrapper"],
    [
      "ruby/setup-ruby@v1",
      "{ ruby-version: 3.4, bundler-cache: true, working-directory: app }",
      "bundler",
      "app/vendor/bundle",
    ],
  ])("%s with %s", async (uses, inputs, name, path) => {
    const { job, kinds } = await jobOf(workflow(uses, inputs));
    expect(kinds).toEqual([]);
    expect(job.cache?.map((one) => one.name)).toEqual([name]);
    expect([job.cache?.[0]?.path].flat()).toContain(path);
  });

  it("uses the files that the action names", async () => {
    const inputs = "{ node-version: 24, cache: npm, cache-dependency-path: web/package-lock.json }";
    const { job } = await jobOf(workflow("actions/setup-node@v4", inputs));
    expect(job.cache?.[0]?.files).toBe("web/package-lock.json");
  });

  it.each(["{ node-version: 24, cache: '${{ matrix.c }}' }", "{ node-version: 24, cache: other }"])(
    "gets a mark if it is unknown: %s",
    async (inputs) => {
      expect((await jobOf(workflow("actions/setup-node@v4", inputs))).kinds).toEqual(["cache"]);
    },
  );
});

describe("the commands of a set-up action", () => {
  it.each([
    ["actions/setup-python@v5", '{ python-version: "3.10\\n3.12" }', 'in 3.10; do\n  command -v "python$version"'],
    ["ruby/setup-ruby@v1", "{ ruby-version: 3.4, bundler-cache: true }", "bundle install --jobs 4"],
    ["gradle/actions/setup-gradle@v3", "{ arguments: build --scan }", "./gradlew build --scan"],
    ["dtolnay/rust-toolchain@stable", "{ components: 'clippy, rustfmt' }", "rustup component add clippy rustfmt"],
    ["dtolnay/rust-toolchain@stable", "{ targets: wasm32-wasip1 }", "rustup target add wasm32-wasip1"],
    ["golangci/golangci-lint-action@v9", "{ version: v2.4, args: --timeout=5m }", "golangci-lint run --timeout=5m"],
    ["ramsey/composer-install@v3", "", "composer install --no-interaction --no-progress --ansi"],
    [
      "shivammathur/setup-php@v2",
      "{ php-version: 8.4, extensions: 'intl, pdo' }",
      "for name in intl pdo; do\n  php -r",
    ],
    ["ramsey/composer-install@v3", "{ dependency-versions: lowest }", "composer update --prefer-lowest"],
    ["astral-sh/setup-uv@v6", "{ version: 0.8, python-version: 3.12 }", 'echo "UV_PYTHON=3.12" >> "$MILLRACE_ENV"'],
    ["pnpm/action-setup@v4", "{ version: 10, run_install: true }", "pnpm install"],
    ["erlef/setup-beam@v1", "{ otp-version: 27, elixir-version: '1.18' }", "mix local.hex --force"],
  ])("%s with %s", async (uses, inputs, run) => {
    const { job, kinds } = await jobOf(workflow(uses, inputs), NONE);
    expect(kinds).toEqual([]);
    expect(job.steps[0]?.run).toContain(run);
    expect(job.steps.at(-1)?.run).toBe("make");
  });

  it("runs in the checkout, even if other steps have another folder", async () => {
    const text = `defaults: { run: { working-directory: app } }\n${workflow("ramsey/composer-install@v3", "")}`;
    const { job } = await jobOf(text);
    expect(job.steps[0]).toMatchObject({ "working-directory": "." });
    const own = await jobOf(workflow("golangci/golangci-lint-action@v9", "{ working-directory: tools }"));
    expect(own.job.steps[0]).toMatchObject({ "working-directory": "tools" });
  });

  it("keeps a computed input a value, never code", async () => {
    const { job, kinds } = await jobOf(
      workflow("golangci/golangci-lint-action@v9", "{ args: '${{ github.head_ref }}' }"),
    );
    expect(job.steps[0]?.run).toBe("golangci-lint run $GITHUB_HEAD_REF");
    expect(kinds).toEqual([]);
  });

  it("keeps its condition", async () => {
    const text = workflow("ramsey/composer-install@v3", "").replace(
      "composer-install@v3",
      "composer-install@v3\n        if: github.event_name == 'push'",
    );
    expect((await jobOf(text)).job.steps[0]?.if).toContain("build.event == 'push'");
  });
});

describe("the changed paths that an action reports", () => {
  const filter = (filters: string, before = "      - uses: actions/checkout@v4\n"): string =>
    `on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    outputs: { src: "\${{ steps.f.outputs.src }}" }\n    steps:\n${before}      - uses: dorny/paths-filter@v3\n        id: f\n        with:\n          filters: |\n${filters.replace(/^/gm, "            ")}\n      - run: make\n        if: steps.f.outputs.src == 'true'\n  b:\n    needs: a\n    if: needs.a.outputs.src == 'true'\n    runs-on: ubuntu-latest\n    steps: [{ run: make }]\n`;

  it("become `changed`", async () => {
    const { text, job, kinds } = await jobOf(filter("src:\n  - 'src/**'\n  - ./package.json\ndocs: docs/**"));
    expect(kinds).toEqual([]);
    expect(job.steps[0]?.if).toBe("format('{0}', changed('src/**', 'package.json')) == 'true'");
    expect(parse(text).jobs.a.outputs.src).toBe("${{ format('{0}', changed('src/**', 'package.json')) }}");
    expect(parse(text).jobs.b.if).toBe("needs.a.outputs.src == 'true'");
  });

  it.each([
    ["a pattern that takes away", "src: ['src/**', '!src/a']"],
    ["signs that `changed` does not have", "src: 'src/*.{ts,js}'"],
    ["kinds of changes", "src: [{ added: 'src/**' }]"],
    ["a file of filters", ".github/filters.yml"],
  ])("get a mark with %s", async (_, filters) => {
    expect((await jobOf(filter(filters))).kinds).toContain(filters.startsWith(".") ? "action" : "pattern");
  });

  it("get a mark without the commit's files", async () => {
    expect((await jobOf(filter("src: 'src/**'", ""))).kinds).toContain("action");
  });
});
