import type { Requires } from "../protocol/pipeline.ts";

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
