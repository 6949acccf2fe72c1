import { describe, expect, it } from "vitest";
import type { HostReport } from "../../src/githosts/core/host-report.ts";
import { nextStatus, toSentStatus } from "../../src/githosts/core/next-status.ts";
import { withReport } from "../../src/githosts/core/report-status.ts";
import { takeAnswer } from "../../src/githosts/core/status-answers.ts";
import { STATUS_RULES } from "../../src/githosts/core/status-rules.ts";
import { AT_EASE, commitKey, type SentStatus, type Statuses } from "../../src/githosts/core/statuses.ts";
import { HOSTS } from "../../src/githosts/hosts.ts";

const GAP_MS = HOSTS.github.statusGapMs;

const NOW = Date.UTC(2026, 5, 1);
const MINUTE = 60_000;
const sha = (n: number): string => String(n).padStart(40, "0");

const report = (n: number, over: Partial<HostReport> = {}): HostReport => ({
  ...{ connectionId: "c", repoId: 7, fullName: "acme/shop", context: "millrace/test", origin: null },
  ...{ buildId: `build-${n}`, number: n, version: 1, sha: sha(n), state: "success", description: "Ended", ...over },
});

/** A connection's pending reports, with a count of the lines that were read. */
const newConnection = () => {
  const statuses: Statuses = { commits: new Map(), pace: AT_EASE, inFlight: null };
  let looks = 0;
  const rules = {
    ...STATUS_RULES,
    isTold: (line: Parameters<typeof STATUS_RULES.isTold>[0]) => {
      looks += 1;
      return STATUS_RULES.isTold(line);
    },
  };
  let now = NOW;
  const learn = (told: HostReport, at: number) => {
    const commit = withReport(statuses.commits.get(commitKey(told)), told, at, rules)!;
    statuses.commits.set(commitKey(told), commit);
  };
  /** Sends this many, as an object does that checks before and after each pause. @returns the sent statuses */
  const send = (count: number): SentStatus[] =>
    Array.from({ length: count }, () => {
      const later = nextStatus(statuses, GAP_MS, now, rules);
      if (later && "at" in later) now = later.at;
      const next = nextStatus(statuses, GAP_MS, now, rules);
      if (!next || !("due" in next)) throw new Error("nothing is due");
      const sent = toSentStatus(next.due);
      statuses.pace = { ...statuses.pace, sentAt: now };
      const { commit, pace } = takeAnswer(statuses, sent, { kind: "told", pipelineId: null }, now, rules);
      if (commit?.endedAt === null) statuses.commits.set(sent.commit, commit);
      else statuses.commits.delete(sent.commit);
      statuses.pace = pace;
      return sent;
    });
  return { learn, send, looked: () => looks };
};

const words = (sent: SentStatus[]): string[] =>
  sent.map(({ buildId, context, state }) => `${buildId} ${context} ${state}`);

describe("with 3,000 waiting commits", () => {
  const behind = () => {
    const connection = newConnection();
    for (let n = 1; n <= 3_000; n++) connection.learn(report(n), NOW - (4_000 - n) * MINUTE);
    return connection;
  };

  it("a fresh push's states are the first requests, and the others follow, newest first", () => {
    const { learn, send } = behind();
    learn(report(5_000, { state: "pending" }), NOW - 2_000);
    learn(report(5_001, { sha: sha(5_000), context: "millrace/lint" }), NOW - 1_000);
    expect(words(send(6))).toEqual([
      ...["build-5000 millrace/test pending", "build-5001 millrace/lint success"],
      ...["build-3000 millrace/test success", "build-3000 millrace success"],
      ...["build-2999 millrace/test success", "build-2999 millrace success"],
    ]);
  });

  it("a build that ends precedes older states, whenever its commit was pushed", () => {
    const { learn, send } = behind();
    learn(report(1, { version: 2, state: "failure", buildId: "build-1b", number: 9_000 }), NOW - 1_000);
    learn(report(5_000, { state: "pending" }), NOW - 2_000);
    expect(words(send(3))).toEqual([
      ...["build-1b millrace/test failure", "build-1b millrace failure", "build-5000 millrace/test pending"],
    ]);
  });

  it("each line is read once, and after that only lines of the reported commit", () => {
    const { send, looked } = behind();
    send(1);
    expect(looked()).toBeLessThan(6_100);
    const before = looked();
    send(100);
    expect(looked() - before).toBeLessThan(1_000);
  });
});
