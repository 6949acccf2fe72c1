import { PLATFORM_NAMES, type Requires } from "../protocol/pipeline.ts";
import { platformCode } from "./capabilities.ts";
import type { Identity } from "./identity.ts";

export const platformName = (): (typeof PLATFORM_NAMES)[number] => PLATFORM_NAMES[platformCode()] ?? "other";

/** What this agent lacks of what a pipeline file requires, in words; empty when it has it all. */
export const lacking = (requires: Requires, agent: Identity): string[] => {
  const { platform, ios, android, web, labels } = requires;
  const lacks: [boolean, string][] = [
    [Boolean(platform) && platform !== platformName(), `platform ${platform}`],
    [Boolean(ios) && !agent.canBuildIOS, "iOS"],
    [Boolean(android) && !agent.canBuildAndroid, "Android"],
    [Boolean(web) && !agent.canBuildWeb, "web"],
    ...(labels ?? []).map((label): [boolean, string] => [!agent.labels.includes(label), `label ${label}`]),
  ];
  return lacks.flatMap(([isLacking, what]) => (isLacking ? [what] : []));
};
