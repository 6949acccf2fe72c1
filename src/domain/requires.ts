import type { AgentCode } from "../protocol/explain.ts";
import { PLATFORM_NAMES, type Requires } from "../protocol/pipeline.ts";

/** What an agent can do, as it registered. */
export interface Capable {
  platform: number;
  canBuildIOS: boolean;
  canBuildAndroid: boolean;
  canBuildWeb: boolean;
  labels: readonly string[];
}

export interface Reason {
  code: AgentCode;
  words: string;
}

/** What an agent lacks of what is required; empty where it may have the build. */
export const lacking = (agent: Capable, { platform, ios, android, web, labels }: Requires): Reason[] => {
  const reasons: Reason[] = [];
  const its = PLATFORM_NAMES[agent.platform] ?? "other";
  if (platform && its !== platform) reasons.push({ code: "platform", words: `is on ${its}, not ${platform}` });
  if (ios && !agent.canBuildIOS) reasons.push({ code: "canBuildIOS", words: "lacks canBuildIOS" });
  if (android && !agent.canBuildAndroid) reasons.push({ code: "canBuildAndroid", words: "lacks canBuildAndroid" });
  if (web && !agent.canBuildWeb) reasons.push({ code: "canBuildWeb", words: "lacks canBuildWeb" });
  const missing = (labels ?? []).filter((label) => !agent.labels.includes(label));
  if (missing.length > 0) {
    reasons.push({ code: "labels", words: `lacks the label${missing.length > 1 ? "s" : ""} ${missing.join(", ")}` });
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
