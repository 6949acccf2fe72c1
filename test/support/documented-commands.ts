import { globSync, readFileSync } from "node:fs";

/** Pages with commands. The changelog's commands are those of its releases. */
export const PAGES = ["README.md", ...globSync("docs/**/*.md").sort()].filter((page) => page !== "docs/changelog.md");

/** Pages, or the beginning of a page, that a test of their own runs in full. */
export const RUN_ELSEWHERE: Record<string, string> = {
  "README.md": "test/e2e/readme.test.ts",
  "docs/clients.md": "test/support/typed-client.ts",
  "docs/first-build.md": "test/e2e/first-build.test.ts",
};

/** Pages whose sections do not continue each other. */
const BY_SECTION = /^docs\/(agent|connect\/\w+)\.md$/;

const FENCE = /^( *)```(\w*)\n(.*?)^ *```$/gms;

export interface Script {
  name: string;
  page: string;
  /** The commands of each block. */
  blocks: string[];
}

/** Returns the commands of a block: all lines of a shell block, or the lines after a prompt. */
const commandsIn = (language: string, text: string, indent: string): string => {
  const lines = text.split("\n").map((line) => line.slice(indent.length));
  if (language === "sh") return lines.join("\n");
  return lines.flatMap((line) => (line.startsWith("$ ") ? [line.slice(2)] : [])).join("\n");
};

/** Returns the commands in a page's blocks and the `curl` lines in its sentences, as scripts to run from top to bottom. */
export const scriptsOf = (page: string, text = readFileSync(page, "utf8")): Script[] => {
  const sections = BY_SECTION.test(page) ? text.split(/^(?=## )/m) : [text];
  return sections.flatMap((section) => {
    const inBlocks = [...section.matchAll(FENCE)].map(([, indent = "", language = "", block = ""]) =>
      commandsIn(language, block, indent),
    );
    const inline = inlineCommands(section).filter((command) => command.startsWith("curl "));
    const blocks = [...inBlocks, ...inline].filter((block) => block.trim() !== "");
    return blocks.length === 0 ? [] : [{ name: `${page} ${/^## (.*)/.exec(section)?.[1] ?? ""}`.trim(), page, blocks }];
  });
};

/** Programs whose commands stand in sentences. */
const PROGRAMS =
  /^(?:agent|api|brew|cloudflared|curl|gh|launchctl|node|npm|npx|openssl|sudo|systemctl|wrangler) (?=\S)/;

/** Returns the commands in a page's sentences and tables. */
export const inlineCommands = (text: string): string[] =>
  [...text.replaceAll(FENCE, "").matchAll(/`([^`\n]+)`/g)]
    .map(([, code = ""]) => code.replace(/^(?:[A-Z_]+=\S+ )+/, ""))
    .filter((code) => PROGRAMS.test(code));

/** Returns the words of a command, without its comment, redirections and what follows a pipe. */
export const wordsOf = (command: string): string[] =>
  (command.split(/ #| [|>&]/)[0] ?? "").match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
