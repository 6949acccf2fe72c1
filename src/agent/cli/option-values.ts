import { join, resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import { GIB } from "../../protocol/units.ts";
import type { ToolSources } from "../tools/mise-program.ts";

/** Splits "a, b" into a list. */
export const labelList = (text: string): string[] =>
  text
    .split(",")
    .map((label) => label.trim())
    .filter(Boolean);

/** Parses a number of seconds. @throws InvalidArgumentError */
export const seconds = (text: string): number => {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError("It must be a whole number of seconds.");
  return Number(text);
};

/** Parses a number of GiB. @throws InvalidArgumentError */
export const gibibytes = (text: string): number => {
  if (!/^\d{1,5}(?:\.\d{1,3})?$/.test(text)) throw new InvalidArgumentError("It must be a number of GiB.");
  return Number(text);
};

/** Adds one NAME=value to the earlier options. @throws InvalidArgumentError */
export const variableOption = (text: string, before: Record<string, string> = {}): Record<string, string> => {
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("It must have the form NAME=value.");
  return { ...before, [name]: value };
};

/** Requires an http or https address. @throws InvalidArgumentError */
export const webAddress = (text: string): string => {
  if (!/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : ""))
    throw new InvalidArgumentError("It must be an address that begins with https://.");
  return text;
};

/** Default GiB of installed tools that an agent keeps. */
export const DEFAULT_TOOL_STORE = 10;

const NPM_REGISTRY = "https://registry.npmjs.org/";

/** Returns npm's own registry in this environment. */
export const defaultRegistry = (env: NodeJS.ProcessEnv = process.env): string =>
  env.npm_config_registry || env.NPM_CONFIG_REGISTRY || NPM_REGISTRY;

/** Returns the tool sources of an agent with this state folder. */
export const toolSourcesIn = (
  state: string,
  { mise, npmRegistry, toolStore }: { mise?: string | undefined; npmRegistry: string; toolStore: number },
): ToolSources => ({
  folder: join(state, "tools"),
  mise: mise === undefined ? null : resolve(mise),
  registry: npmRegistry,
  quotaBytes: toolStore * GIB,
});
