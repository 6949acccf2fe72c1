import { join, resolve } from "node:path";
import type { ToolSources } from "../tools/mise-program.ts";

const NPM_REGISTRY = "https://registry.npmjs.org/";

/** The registry that npm itself is told of in this environment. */
export const defaultRegistry = (env: NodeJS.ProcessEnv = process.env): string =>
  env.npm_config_registry || env.NPM_CONFIG_REGISTRY || NPM_REGISTRY;

/** Where an agent with this state folder gets what its tools need. */
export const toolSourcesIn = (
  state: string,
  { mise, npmRegistry }: { mise?: string; npmRegistry: string },
): ToolSources => ({
  folder: join(state, "tools"),
  mise: mise === undefined ? null : resolve(mise),
  registry: npmRegistry,
});
