import type { AgentCode } from "../protocol/explain.ts";
import { PLATFORM_NAMES, PLATFORM_TITLES, type Requires } from "../protocol/pipeline.ts";
import { isXcode } from "../protocol/xcodes.ts";

/** The reason why a job cannot require Windows. */
export const NO_WINDOWS = "There is no agent for Windows: write macos or linux";

/** The abilities of an agent, as its registration or a person reported them. */
interface Skills {
  platform: number;
  canBuildIOS: boolean;
  canBuildAndroid: boolean;
  canBuildWeb: boolean;
  labels: readonly string[];
  /** Versions of Xcode; absent if the agent reported none. */
  xcodes?: readonly string[];
}

/** The reason why an agent cannot run a build. The phrase follows the name of one agent, or the number of agents. */
export interface Reason {
  code: AgentCode;
  phrase: string;
  pluralPhrase: string;
}

/** Builds a reason from the verb in singular and plural and the rest of the phrase. */
export const reason = (code: AgentCode, [singular, plural]: readonly [string, string], rest: string): Reason => ({
  code,
  phrase: `${singular} ${rest}`,
  pluralPhrase: `${plural} ${rest}`,
});

const IS = ["is", "are"] as const;
const LACKS = ["lacks", "lack"] as const;
const CANNOT = ["cannot", "cannot"] as const;

/** Returns the requirements that the agent does not meet; empty if it can run the build. */
export const unmetRequirements = (
  agent: Skills,
  { platform, ios, android, web, labels, xcode }: Requires,
): Reason[] => {
  const reasons: Reason[] = [];
  const actual = PLATFORM_NAMES[agent.platform] ?? "other";
  if (platform && actual !== platform) {
    const on = actual === "other" ? "another platform" : PLATFORM_TITLES[actual];
    reasons.push(reason("platform", IS, `on ${on}, not ${PLATFORM_TITLES[platform]}`));
  }
  if (ios && !agent.canBuildIOS) reasons.push(reason("canBuildIOS", CANNOT, "build for iOS"));
  if (android && !agent.canBuildAndroid) reasons.push(reason("canBuildAndroid", CANNOT, "build for Android"));
  if (web && !agent.canBuildWeb) reasons.push(reason("canBuildWeb", CANNOT, "build for the web"));
  const missing = (labels ?? []).filter((label) => !agent.labels.includes(label));
  if (missing.length > 0) {
    reasons.push(reason("labels", LACKS, `the label${missing.length > 1 ? "s" : ""} ${missing.join(", ")}`));
  }
  if (xcode && !agent.xcodes?.some((version) => isXcode(xcode, version)))
    reasons.push(reason("xcode", LACKS, `Xcode ${xcode}`));
  return reasons;
};

/** Returns the one of two required versions that satisfies both requirements; undefined if neither does. */
const narrowerXcode = (one: string | null, other: string | null): string | null | undefined => {
  if (one === null || other === null) return one ?? other;
  return isXcode(one, other) ? other : isXcode(other, one) ? one : undefined;
};

/**
 * Merges two sets of requirements into one for an agent that must meet both. Returns undefined if they contradict each
 * other.
 */
export const mergeRequires = (one: Requires, other: Requires): Requires | undefined => {
  if (one.platform && other.platform && one.platform !== other.platform) return undefined;
  const xcode = narrowerXcode(one.xcode ?? null, other.xcode ?? null);
  if (xcode === undefined) return undefined;
  return {
    ...(xcode === null ? {} : { xcode }),
    platform: one.platform ?? other.platform ?? null,
    ios: one.ios || other.ios || null,
    android: one.android || other.android || null,
    web: one.web || other.web || null,
    labels: [...new Set([...(one.labels ?? []), ...(other.labels ?? [])])],
  };
};
