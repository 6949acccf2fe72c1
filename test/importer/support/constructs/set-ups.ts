import { PAGES } from "../github-pages.ts";
import { type Construct, job, show, use } from "./construct.ts";

const README = "https://github.com/actions/setup-node#readme";
const CHECKOUT = use("actions/checkout@v4");

/** The repository's files. Some name versions. */
export const FILES_OF_TOOLS = {
  file: "kept\n",
  ".nvmrc": "v22\n",
  ".ruby-version": "ruby-3.4.1\n",
  "go.mod": "module a\n\ngo 1.24.2\n",
  "package.json": '{ "engines": { "node": ">=18 <23" } }\n',
};

export const SET_UPS: Record<string, Construct> = {
  "a range of versions": {
    page: README,
    jobs: job(
      "ranges",
      [use("actions/setup-node@v4", "{ node-version: '${{ matrix.v }}' }"), "node --test"],
      ["strategy: { matrix: { v: [18.x, ^18 || >=20, lts/*, '22.4', 22, ~22.4] } }"],
    ),
  },
  "several tools": {
    page: README,
    jobs: job(
      "several-tools",
      [
        use("actions/setup-go@v5", "{ go-version: '${{ env.GO }}' }"),
        use("actions/setup-python@v5", "{ python-version: 3.x }"),
        use("ruby/setup-ruby@v1", "{ ruby-version: 3.3 }"),
        use("shivammathur/setup-php@v2", "{ php-version: '8.4', coverage: none }"),
        "go version; python -V; pip list; ruby -v; php -v",
      ],
      ["env: { GO: ^1.22 }"],
    ),
  },
  "versions in files": {
    page: README,
    jobs: job("in-files", [
      CHECKOUT,
      use("actions/setup-go@v5", "{ go-version-file: go.mod }"),
      use("actions/setup-node@v4", "{ node-version-file: package.json }"),
      use("ruby/setup-ruby@v1"),
      "go version; node -v; ruby -v",
    ]),
  },
  "a file that `tools: auto` reads": {
    page: README,
    jobs: job("auto", [CHECKOUT, use("actions/setup-node@v4", "{ node-version-file: .nvmrc }"), "node -v"]),
  },
  "what set-up actions run": {
    page: "https://github.com/ruby/setup-ruby#caching-bundle-install-automatically",
    jobs: [
      job("bundler", [
        CHECKOUT,
        "touch Gemfile.lock",
        use("ruby/setup-ruby@v1", "{ ruby-version: '3.4', bundler-cache: true }"),
        "bundle exec rake",
      ]),
      job("components", [use("dtolnay/rust-toolchain@stable", "{ components: 'clippy,rustfmt' }"), "rustc -V"]),
      job("composer", [use("shivammathur/setup-php@v2", "{ php-version: '8.3' }"), use("ramsey/composer-install@v3")]),
      job("lint", [use("golangci/golangci-lint-action@v9", "{ version: v2.4, args: --timeout=5m }")]),
    ].join("\n"),
  },
  "caches of set-up actions": {
    page: README,
    jobs: job("set-up-caches", [
      CHECKOUT,
      use("actions/setup-node@v4", "{ node-version: 24, cache: npm }"),
      use("Swatinem/rust-cache@v2"),
      "node install",
    ]),
  },
  "a version without an equivalent": {
    page: README,
    jobs: job("unsaid-version", [show("before"), use("actions/setup-node@v4", "{ node-version: 18 - 20 }"), "node -v"]),
    left: { "unsaid-version": ["> before"] },
  },
  "paths that changed": {
    page: PAGES.filter,
    jobs: [
      job(
        "filter",
        [
          CHECKOUT,
          use("dorny/paths-filter@v3", "{ filters: \"new: ['new/**']\\nold: [old/**, '*.none']\" }", "id: f"),
          `- if: steps.f.outputs.new == 'true'\nrun: ${show("new")}`,
          `- if: steps.f.outputs.old == 'true'\nrun: ${show("old")}`,
        ],
        ["outputs: { new: '${{ steps.f.outputs.new }}' }"],
      ),
      job("after-filter", [show("filtered")], ["needs: filter", "if: needs.filter.outputs.new == 'true'"]),
    ].join("\n"),
  },
};
