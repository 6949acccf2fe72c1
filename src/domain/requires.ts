import type { AgentCode } from "../protocol/explain.ts";
import { PLATFORM_NAMES, PLATFORM_TITLES, type Requires } from "../protocol/pipeline.ts";

/** What an agent can do, as it registered. */
export interface Capable {
  platform: number;
  canBuildIOS: boolean;
  canBuildAndroid: boolean;
  canBuildWeb: boolean;
  labels: readonly string[];
}

/** Why an agent does not get a build, said of one agent and of several. */
export interface Reason {
  code: AgentCode;
  words: string;
  ofMany: string;
}

/** `verb` as one agent and as several do it. */
export const reason = (code: AgentCode, [one, many]: readonly [string, string], rest: string): Reason => ({
  code,
  words: `${one} ${rest}`,
  ofMany: `${many} ${rest}`,
});

const IS = ["is", "are"] as const;
const LACKS = ["lacks", "lack"] as const;
const CANNOT = ["cannot", "cannot"] as const;

/** What an agent lacks of what is required; empty where it may have the build. */
export const lacking = (agent: Capable, { platform, ios, android, web, labels }: Requires): Reason[] => {
  const reasons: Reason[] = [];
  const its = PLATFORM_NAMES[agent.platform] ?? "other";
  if (platform && its !== platform) {
    const on = its === "other" ? "another platform" : PLATFORM_TITLES[its];
    reasons.push(reason("platform", IS, `on ${on}, not ${PLATFORM_TITLES[platform]}`));
  }
  if (ios && !agent.canBuildIOS) reasons.push(reason("canBuildIOS", CANNOT, "build for iOS"));
  if (android && !agent.canBuildAndroid) reasons.push(reason("canBuildAndroid", CANNOT, "build for Android"));
  if (web && !agent.canBuildWeb) reasons.push(reason("canBuildWeb", CANNOT, "build for the web"));
  const missing = (labels ?? []).filter((label) => !agent.labels.includes(label));
  if (missing.length > 0) {
    reasons.push(reason("labels", LACKS, `the label${missing.length > 1 ? "s" : ""} ${missing.join(", ")}`));
  }
  return reasons;
};

/** What both demand together: an agent must have all of it. `undefined` where they contradict each other. */
export const mergeRequires = (left: Requires, right: Requires): Requires | undefined => {
  if (left.platform && right.platform && left.platform !== right.platform) return undefined;
  return {
    platform: left.platform ?? right.platform ?? null,
    ios: left.ios || right.ios || null,
    android: left.android || right.android || null,
    web: left.web || right.web || null,
    labels: [...new Set([...(left.labels ?? []), ...(right.labels ?? [])])],
  };
};
