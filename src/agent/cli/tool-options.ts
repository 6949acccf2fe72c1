import { join, resolve } from "node:path";
import type { ToolSources } from "../tools/mise-program.ts";

const GIB = 1024 ** 3;
/** GiB of installed tools that an agent keeps, unless told. */
export const DEFAULT_TOOL_STORE = 10;

const NPM_REGISTRY = "https://registry.npmjs.org/";

/** The registry that npm itself is told of in this environment. */
export const defaultRegistry = (env: NodeJS.ProcessEnv = process.env): string =>
  env.npm_config_registry || env.NPM_CONFIG_REGISTRY || NPM_REGISTRY;

/** Where an agent with this state folder gets what its tools need. */
export const toolSourcesIn = (
  state: string,
  { mise, npmRegistry, toolStore }: { mise?: string | undefined; npmRegistry: string; toolStore: number },
): ToolSources => ({
  folder: join(state, "tools"),
  mise: mise === undefined ? null : resolve(mise),
  registry: npmRegistry,
  quotaBytes: toolStore * GIB,
});
