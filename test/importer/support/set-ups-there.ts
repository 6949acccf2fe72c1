import { join } from "node:path";
import { parse } from "yaml";
import { installRelease, RELEASES } from "./releases.ts";

/* The set-up actions on GitHub, by their README: the release that each installs, and the commands that it runs. */

type Inputs = Record<string, string>;
type ReadFile = (path: string) => string;

interface SetUpThere {
  tool: string;
  /** Returns the range of versions. */
  range(inputs: Inputs, read: ReadFile, ref: string): string;
  run?(inputs: Inputs): string[];
}

/** Actions by name. Versions are ranges of npm's semver, as the README of `actions/setup-node` says. */
const ACTIONS: Record<string, SetUpThere> = {
  "actions/setup-node": {
    tool: "node",
    range: (inputs, read) => {
      const file = inputs["node-version-file"];
      if (file === undefined) return inputs["node-version"] ?? "";
      return file.endsWith("package.json") ? JSON.parse(read(file)).engines.node : read(file).trim();
    },
  },
  "actions/setup-go": {
    tool: "go",
    range: (inputs, read) =>
      inputs["go-version"] ?? /^(?:toolchain go|go )(\S+)$/m.exec(read(inputs["go-version-file"]!))![1]!,
  },
  "actions/setup-python": { tool: "python", range: (inputs) => inputs["python-version"] ?? "" },
  "ruby/setup-ruby": {
    tool: "ruby",
    range: (inputs, read) =>
      inputs["ruby-version"] ??
      read(".ruby-version")
        .trim()
        .replace(/^ruby-/, ""),
    run: (inputs) =>
      inputs["bundler-cache"] === "true"
        ? [
            'bundle config set --local path "$PWD/vendor/bundle"',
            "bundle config set --local deployment true",
            "bundle install --jobs 4",
          ]
        : [],
  },
  "dtolnay/rust-toolchain": {
    tool: "rust",
    range: (_, __, ref) => ref,
    run: ({ components }) =>
      components === undefined ? [] : [`rustup component add ${components.split(",").join(" ")}`],
  },
  "shivammathur/setup-php": { tool: "php", range: (inputs) => inputs["php-version"] ?? "" },
  "ramsey/composer-install": {
    tool: "",
    range: () => "",
    run: () => ["composer install --no-interaction --no-progress --ansi"],
  },
  "golangci/golangci-lint-action": {
    tool: "golangci-lint",
    range: ({ version = "" }) => version.replace(/^v/, ""),
    run: ({ args = "" }) => [`golangci-lint run ${args}`],
  },
};

const numbersIn = (text: string): number[] =>
  text
    .split(".")
    .filter((part) => /^\d+$/.test(part))
    .map(Number);

/** Reports whether a version fits one comparator of npm's semver: https://github.com/npm/node-semver#ranges */
const fitsOne = (version: number[], comparator: string): boolean => {
  const [, sign = "", text = ""] = /^([<>=^~]*)v?(.*)$/.exec(comparator) ?? [];
  const wanted = numbersIn(text);
  const order = wanted.map((one, index) => version[index]! - one).find((difference) => difference !== 0) ?? 0;
  const isBelow = (length: number) => wanted.slice(0, length).every((one, index) => version[index] === one);
  if (sign === ">=") return order >= 0;
  if (sign === "<") return order < 0;
  if (sign === "<=") return order <= 0;
  if (sign === "^") return order >= 0 && isBelow(wanted.findIndex((one) => one > 0) + 1);
  if (sign === "~") return order >= 0 && isBelow(2);
  return isBelow(wanted.length);
};

/** Returns the newest release in a range, or the release with this name. */
const releaseFor = (tool: string, range: string): string => {
  const all = RELEASES[tool]!;
  if (all.includes(range)) return range;
  const wanted = /^(?:lts\/\*|stable|latest)$/.test(range) ? "*" : range.replace(/(\S+) - (\S+)/, ">=$1 <=$2");
  const fits = (version: string) =>
    wanted.split("||").some((part) =>
      part
        .trim()
        .split(/\s+/)
        .every((one) => fitsOne(numbersIn(version), one)),
    );
  return all.findLast(fits)!;
};

/** Installs an action's release into the folder. @returns the commands that it then runs; undefined for another action */
export const setUpThere = (
  uses: string,
  inputs: Inputs,
  read: ReadFile,
  folder: string,
): { commands: string[]; path?: string } | undefined => {
  const [action = "", ref = ""] = uses.split("@");
  const row = ACTIONS[action];
  if (!row) return undefined;
  const commands = row.run?.(inputs) ?? [];
  if (row.tool === "") return { commands };
  const version = releaseFor(row.tool, row.range(inputs, read, ref));
  const path = join(folder, row.tool, version);
  installRelease(path, row.tool, version);
  return { commands, path };
};

/** Returns the outputs of `dorny/paths-filter` by name: whether one of the files fits a pattern. */
export const filtersThere = (
  text: string,
  files: readonly string[],
  isMatch: (file: string, glob: string) => boolean,
) =>
  Object.fromEntries(
    Object.entries(parse(text) as Record<string, string | string[]>).map(([name, patterns]) => [
      name,
      String(files.some((file) => [patterns].flat().some((one) => isMatch(file, one)))),
    ]),
  );
