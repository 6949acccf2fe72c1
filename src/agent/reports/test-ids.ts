import { createHash } from "node:crypto";
import { identityOf, type TestResult } from "../../domain/reports/fold-tries.ts";
import type { IdentifiedTest } from "../../domain/reports/report-to-send.ts";

const ID_CHARACTERS = 16;

/** Each with an id that is the same in every build: of tests with the same names, the later ones by their order. */
export const withIds = (jobKey: string, results: readonly TestResult[]): IdentifiedTest[] => {
  const seen = new Map<string, number>();
  return results.map((result) => {
    const identity = identityOf(result);
    const index = seen.get(identity) ?? 0;
    seen.set(identity, index + 1);
    const parts = JSON.stringify([jobKey, identity, ...(index === 0 ? [] : [index])]);
    return { ...result, id: createHash("sha256").update(parts).digest("hex").slice(0, ID_CHARACTERS) };
  });
};
