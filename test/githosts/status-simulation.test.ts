import { describe, expect, it } from "vitest";
import { STATUS_RULES, type StatusRules } from "../../src/githosts/core/status-rules.ts";
import type { Line } from "../../src/githosts/core/statuses.ts";
import type { Law } from "./support/status-host.ts";
import { statusHistory } from "./support/status-simulation.ts";

const SEED = 1;
const HISTORIES = 600;

/** One rule replaced with a wrong one, and the law that it breaks. */
const MUTANTS: Record<string, { rules: Partial<StatusRules>; breaks: Law }> = {
  "a pending state after the end of its build": {
    rules: { isNews: (known, report) => report.number >= known.number },
    breaks: "nothing after its end",
  },
  "an older build replaces a newer one": { rules: { isNews: () => true }, breaks: "newest wins" },
  "any reported state counts": { rules: { isTold: ({ told }) => told !== null }, breaks: "ends right" },
  "the same state from another time counts as reported": {
    rules: { isTold: ({ told, wanted, againAt }) => told?.state === wanted.state && againAt === null },
    breaks: "ends right",
  },
  "reports a state twice": {
    rules: { isTold: ({ told, since, tries }) => told?.since === since && tries > 0 },
    breaks: "not twice",
  },
  "an answer always concerns the newest state": {
    rules: {
      taken: ({ since }: Line, sent) => ({ buildId: sent.buildId, state: sent.state, since }),
      isAnswered: () => true,
    },
    breaks: "ends right",
  },
  "resent after 422": { rules: { isGivenUp: () => false }, breaks: "given up is given up" },
  "two in flight": { rules: { maySend: () => true }, breaks: "one in flight" },
  "no second in between": { rules: { mayAskAt: ({ quietUntil }) => quietUntil }, breaks: "a second apart" },
  "no back-off": { rules: { lineWait: () => 0, hostWait: () => 0 }, breaks: "backs off" },
  "no pause when the host requires one": { rules: { pauseUntil: (now) => now + 1_000 }, breaks: "waits as told" },
  "the repository succeeds while a build is active": {
    rules: { overall: (own) => (own.some(({ wanted }) => wanted.state === "success") ? "success" : "pending") },
    breaks: "repository is honest",
  },
  "a success before the host knows the others": {
    rules: { isHeld: () => false },
    breaks: "never all green while one lives",
  },
  "nothing is late": { rules: { unsureUntil: () => 0 }, breaks: "ends right" },
  "a check run is created twice": { rules: { knownRun: () => null }, breaks: "one run a build" },
  "another build's check run is updated": {
    rules: { knownRun: ({ checkRun }) => checkRun?.id ?? null },
    breaks: "one run a build",
  },
  "no search for a check run after a lost answer": { rules: { mayHaveRun: () => false }, breaks: "ends right" },
  "nothing follows a question": {
    rules: { isNews: (known, report) => !known.asks && STATUS_RULES.isNews(known, report) },
    breaks: "ends right",
  },
  "given up after the first failure": { rules: { isHopeless: () => true }, breaks: "ends right" },
};

describe("the statuses of a connection", () => {
  it("keep the laws, whatever the host does and whenever the object restarts", () => {
    const broken: string[] = [];
    let posts = 0;
    for (let history = 0; history < HISTORIES; history++) {
      const judge = statusHistory(SEED, history, STATUS_RULES);
      posts += judge.posts;
      for (const [law, detail] of judge.broken) broken.push(`history ${history}, ${law}: ${detail}`);
    }
    expect(broken).toEqual([]);
    expect(posts).toBeGreaterThan(HISTORIES * 5);
  });

  it.each(Object.entries(MUTANTS))("are tested so that a mutant fails: %s", (_, { rules, breaks }) => {
    const seen = new Set<Law>();
    for (let history = 0; history < HISTORIES && !seen.has(breaks); history++) {
      for (const law of statusHistory(SEED, history, { ...STATUS_RULES, ...rules }).broken.keys()) seen.add(law);
    }
    expect([...seen]).toContain(breaks);
  });
});
