import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { program } from "../../src/agent/cli/program.ts";
import { ROUTES } from "../../src/api/routes.ts";
import { inlineCommands, PAGES, scriptsOf, wordsOf } from "../support/documented-commands.ts";

/** Commands of other programs that appear in sentences and tables, and why no test runs them. */
const NOT_RUN: [RegExp, reason: string][] = [
  [/^(npx )?wrangler (login|whoami|d1|r2|deploy|secret|rollback|tail|dev)\b/, "needs an account at Cloudflare"],
  [/^cloudflared tunnel /, "opens a tunnel through Cloudflare"],
  [/^gh api /, "needs an account at GitHub"],
  [/^npm view /, "reads the npm registry"],
  [/^(npm (ci|install)\b)/, "installs packages; .ci/run begins with npm ci"],
  [/^(sudo (pmset|loginctl)|systemctl|launchctl) /, "changes the machine"],
];

const SCRIPTS: Record<string, string> = packageJson.scripts;

/** Scripts that pass their words to another program: vitest, drizzle-kit. */
const PASSES_ON = ["house", "migration", "test:profile"];

/** A word for which the reader writes a value of their own. */
const isPlaceholder = (word: string): boolean => /^[A-Z]+$|^\.\.\.$|^\d+$|^"/.test(word);

/** Returns what is wrong with a script of package.json and its words. */
const wrongScript = ([, ...words]: string[]): string[] => {
  const [name = "", ...args] = words
    .slice(words[0] === "run" ? 1 : 0)
    .filter((word) => word !== "--silent" && word !== "--");
  const script = SCRIPTS[name];
  if (script === undefined) return [`${name} is not a script in package.json`];
  if (name === "agent") return wrongAgentCommand(args);
  const entry = /node (\S+\.ts)/.exec(script)?.[1];
  if (PASSES_ON.includes(name) || entry === undefined) return [];
  const source = globSync(`${dirname(entry)}/*.ts`).map((file) => readFileSync(file, "utf8"));
  return args
    .filter((word) => !isPlaceholder(word))
    .map((word) => word.replace(/^--/, ""))
    .filter((word) => !source.some((text) => new RegExp(`\\b${word}\\b`).test(text)))
    .map((word) => `npm run ${name} does not know ${word}`);
};

/** Returns what is wrong with a command of the agent and its options. */
const wrongAgentCommand = ([name = "", ...args]: string[]): string[] => {
  if (["...", "--help", "--version"].includes(name)) return [];
  const command = program.commands.find((each) => each.name() === name);
  if (!command) return [`${name} is not a command of the agent`];
  return args
    .filter((word) => word.startsWith("--") && !command.options.some(({ long }) => long === word))
    .map((word) => `agent ${name} has no option ${word}`);
};

/** Returns what is wrong with a request by the guides' function `api`. */
const wrongRequest = (command: string): string[] => {
  const [, path = ""] = /"\$URL(\/[^"?]*)/.exec(command) ?? [];
  const [, method = command.includes(" -d ") ? "POST" : "GET"] = / -X (\w+)/.exec(command) ?? [];
  const wanted = path.replaceAll(/\$\w+/g, "x");
  const isRoute = ROUTES.some(
    (route) => route.method === method && new RegExp(`^${route.path.replaceAll(/:\w+/g, "x")}$`).test(wanted),
  );
  return isRoute ? [] : [`${method} ${path} is not a route`];
};

/** Returns what is wrong with a command. `test/e2e/documented-commands.test.ts` runs every `curl`. */
const wrongCommand = (command: string): string[] => {
  const words = wordsOf(command);
  const agent = words.findIndex((word) => word.endsWith("agent.mjs") || word === "agent");
  if (words[0] === "api") return wrongRequest(command);
  if (words[0] === "agent") return wrongAgentCommand(words.slice(1));
  if (["node", "sudo"].includes(words[0] ?? "") && agent > 0) return wrongAgentCommand(words.slice(agent + 1));
  if (NOT_RUN.some(([pattern]) => pattern.test(command)) || words[0] === "curl") return [];
  if (words[0] === "npm") return wrongScript(words);
  const [file = ""] = words.filter((word) => word.endsWith(".ts"));
  if (words[0] === "node" && globSync(file).length === 1) return [];
  return ["neither a test nor the list knows it"];
};

/** Returns the npm and agent commands in the blocks that `test/e2e/documented-commands.test.ts` replaces or runs. */
const commandsInBlocks = (page: string): string[] =>
  scriptsOf(page)
    .flatMap(({ blocks }) => blocks)
    .flatMap((block) => block.split(/\n|&& /))
    .filter((line) => /^(?:npm|(?:sudo )?node \S*agent\.mjs) /.test(line));

const commandsOf = (page: string): string[] => [
  ...inlineCommands(readFileSync(page, "utf8")),
  ...commandsInBlocks(page),
];

describe("the commands in the documents", () => {
  it.each(PAGES)("exist, with their words and options: %s", (page) => {
    const wrong = commandsOf(page).map((command) => [command, wrongCommand(command)] as const);
    expect(wrong.filter(([, problems]) => problems.length > 0)).toEqual([]);
  });

  it("number at least 100", () => {
    expect(PAGES.flatMap(commandsOf).length).toBeGreaterThanOrEqual(100);
  });

  it("include each command that no test runs", () => {
    const all = PAGES.flatMap(commandsOf);
    expect(NOT_RUN.filter(([pattern]) => !all.some((command) => pattern.test(command)))).toEqual([]);
  });

  it("fail the check with an unknown program, script, word, command or option", () => {
    const wrong = [
      "brew upgrade",
      "npm run fly",
      "npm run bench -- fly",
      "node agent.mjs fly",
      "agent check --fly",
      'api "$URL/fly"',
    ];
    expect(wrong.filter((command) => wrongCommand(command).length === 0)).toEqual([]);
    expect(inlineCommands("`MILLRACE_URL=x npm run fly` and `npm`")).toEqual(["npm run fly"]);
  });
});
