import type { HostReport, HostState } from "../../../src/githosts/core/host-report.ts";
import { cutOff, type DueStatus, nextStatus, toSentStatus } from "../../../src/githosts/core/next-status.ts";
import { withEndTime, withReport } from "../../../src/githosts/core/report-status.ts";
import { type Status, toStatus } from "../../../src/githosts/core/status.ts";
import { type StatusOutcome, takeAnswer } from "../../../src/githosts/core/status-answers.ts";
import type { StatusRules } from "../../../src/githosts/core/status-rules.ts";
import {
  AT_EASE,
  type Commit,
  commitKey,
  REPOSITORY_CONTEXT,
  type SentStatus,
  type Statuses,
} from "../../../src/githosts/core/statuses.ts";
import { HOSTS } from "../../../src/githosts/hosts.ts";
import { Random } from "../../simulate/random.ts";
import { type Behaviour, behave, type KnownBuild, StatusJudge } from "./status-host.ts";

const GAP_MS = HOSTS.github.statusGapMs;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2026, 0, 1);
/** When the host recovers, and when everything must be right: an hour of pause, 10 min of back-off, the rest. */
const FAULTS_MS = 2 * HOUR;
const HEALED_MS = FAULTS_MS + HOUR + 15 * MINUTE;
/** Milliseconds for which a run itself waits. Earlier answers are stored. */
const INLINE_MS = 1_200;
/** How often GitHub does not return the runs that it has. */
const UNFOUND = 0.2;
const ENDS: HostState[] = ["success", "success", "success", "failure", "error"];

interface Event {
  at: number;
  order: number;
  run(): void;
}

/** GitHub fails when queried for its runs. Nothing else was sent. */
const UNFINDABLE: Behaviour = {
  ...{ answerAfter: 120, appliedAfter: [], notBefore: 0 },
  outcome: () => ({ kind: "away", isUnsure: false, reason: "The git host has an internal error (500)." }),
};

/** Adds the run that the answer names to the outcome. */
const named = (outcome: StatusOutcome, run: number | null): StatusOutcome =>
  outcome.kind === "told" && run !== null ? { ...outcome, checkRunId: run } : outcome;

/** One history of one connection, derived from the seed: reported builds, a host with problems, crashes. */
class StatusHistory {
  readonly judge: StatusJudge;
  readonly #random: Random;
  readonly #rules: StatusRules;
  readonly #disk = { commits: new Map<string, string>(), pace: JSON.stringify(AT_EASE) };
  readonly #poison = new Set<string>();
  /** The newest report of each context that the service got. */
  readonly #known = new Map<
    string,
    KnownBuild & { commit: string; since: number; version: number; isEnded: boolean }
  >();
  #statuses: Statuses = { commits: new Map(), pace: AT_EASE, inFlight: null };
  #unsaved = new Map<string, Commit>();
  #events: Event[] = [];
  #now = START;
  #order = 0;
  #life = 0;
  readonly #isApp: boolean;

  constructor(seed: number, history: number, rules: StatusRules) {
    this.#random = new Random(seed, history);
    this.#rules = rules;
    this.#isApp = this.#random.chance(0.5);
    this.judge = new StatusJudge(this.#isApp);
  }

  run(): StatusJudge {
    this.#plan();
    const crashes = this.#random.below(4);
    for (let n = 0; n < crashes; n++) this.#at(START + this.#random.below(FAULTS_MS), () => this.#crash());
    for (let event = this.#take(); event; event = this.#take()) {
      if (event.at > START + HEALED_MS) break;
      this.#now = event.at;
      event.run();
    }
    this.#checkEnd();
    return this.judge;
  }

  #at(at: number, run: () => void): void {
    this.#events.push({ at, order: this.#order++, run });
  }

  #take(): Event | undefined {
    this.#events.sort((left, right) => left.at - right.at || left.order - right.order);
    return this.#events.shift();
  }

  /** Builds with their reports: late, repeated, in any order. The newest always arrives. */
  #plan(): void {
    const random = this.#random;
    const commits = 1 + random.below(3);
    let number = 0;
    for (let commit = 0; commit < commits; commit++) {
      const pushedAt = START + random.below(random.chance(0.5) ? 10_000 : HOUR);
      for (let context = 0, of = 1 + random.below(3); context < of; context++) {
        for (let retry = 0; retry <= (random.chance(0.3) ? 1 : 0); retry++) {
          const madeAt = pushedAt + retry * random.below(20 * MINUTE);
          this.#planBuild(`${commit}`.padStart(40, "a"), `millrace/p${context}`, ++number, madeAt);
        }
      }
      if (random.chance(0.1)) this.#poison.add(`7 ${`${commit}`.padStart(40, "a")} millrace/p0`);
    }
  }

  #planBuild(sha: string, context: string, number: number, madeAt: number): void {
    const random = this.#random;
    const endedAt = madeAt + (random.chance(0.3) ? random.below(1_400) : random.below(30 * MINUTE));
    const isPendingLost = random.chance(0.1);
    const base = { connectionId: "c", repoId: 7, fullName: "acme/shop", context, origin: "https://ci.example", sha };
    const build = { ...base, buildId: `build-${String(number).padStart(4, "0")}`, number };
    const reports: { at: number; report: HostReport }[] = [
      { at: madeAt, report: { ...build, version: 1, state: "pending", description: "Waits for an agent" } },
      ...this.#phases(build, madeAt, endedAt),
      { at: endedAt, report: { ...build, version: 9, state: random.pick(ENDS), description: "Ended" } },
    ];
    for (const { at, report } of isPendingLost ? reports.slice(1) : reports) {
      const copies = 1 + (random.chance(0.3) ? 1 : 0);
      for (let copy = 0; copy < copies; copy++) {
        const delay = copy === 0 ? random.below(300) : random.below(10 * MINUTE);
        this.#at(at + delay, () => this.#report(report));
      }
    }
  }

  /** Reports of an App's build between its start and its end: it runs, or it asks people and continues. */
  #phases(build: Omit<HostReport, "version" | "state" | "description">, from: number, to: number) {
    const random = this.#random;
    if (!this.#isApp) return [];
    const facts: Pick<HostReport, "state" | "phase" | "asks" | "description">[] = [
      { state: "pending", phase: "running", description: "Runs" },
    ];
    if (random.chance(0.4)) {
      const state = random.pick(["success", "pending"] as const);
      facts.push({ state, phase: "asking", asks: [{ index: 1, name: "deploy" }], description: "Asks" });
      if (random.chance(0.8)) facts.push({ state: "pending", phase: "running", description: "Runs" });
    }
    const step = (to - from) / (facts.length + 1);
    return facts.map((fact, n) => ({
      at: from + Math.floor(step * (n + 1)),
      report: { ...build, ...fact, version: n + 2 },
    }));
  }

  #report(report: HostReport): void {
    const key = commitKey(report);
    this.#learn(key, report);
    const known = this.#commit(key);
    const commit = withReport(known, report, this.#now, this.#rules);
    if (commit && commit !== known) {
      const next = withEndTime(commit, this.#now, this.#rules);
      this.#disk.commits.set(key, JSON.stringify(next));
      this.#unsaved.delete(key);
      this.#keep(key, next);
    }
    this.#pump();
  }

  /** The checks' own knowledge, written independently so that a wrong rule of the service cannot hide. */
  #learn(commit: string, { context, buildId, number, version, state, asks }: HostReport): void {
    const key = `${commit} ${context}`;
    const before = this.#known.get(key);
    const isEnded = state !== "pending" && !asks;
    const isLater = before?.number === number && !before.isEnded && (isEnded || version > before.version);
    if (before && number <= before.number && !isLater) return;
    const known = { commit, context, buildId, number, version, state, isEnded };
    this.#known.set(key, { ...known, since: this.#now, isGivenUp: false });
  }

  #commit(key: string): Commit | undefined {
    const stored = this.#disk.commits.get(key);
    return this.#unsaved.get(key) ?? this.#statuses.commits.get(key) ?? (stored && JSON.parse(stored));
  }

  #keep(key: string, commit: Commit): void {
    if (commit.endedAt === null) this.#statuses.commits.set(key, commit);
    else this.#statuses.commits.delete(key);
  }

  #pump(): void {
    for (;;) {
      const next = nextStatus(this.#statuses, GAP_MS, this.#now, this.#rules);
      if (!next || ("at" in next && next.at - this.#now > INLINE_MS)) this.#save();
      if (!next) return;
      if ("at" in next) {
        const life = this.#life;
        this.#at(next.at, () => life === this.#life && this.#pump());
        return;
      }
      this.#send(next.due);
    }
  }

  #send(due: DueStatus): void {
    const sent = toSentStatus(due);
    if (!this.#unsaved.has(sent.commit)) this.#save();
    this.#statuses.inFlight = sent;
    this.#statuses.pace = { ...this.#statuses.pace, sentAt: this.#now };
    const builds = this.#buildsOf(due.commit);
    const isFaulty = this.#now < START + FAULTS_MS;
    const status = this.#looked(toStatus(due, null, this.#rules), sent, isFaulty);
    const isPoison = this.#poison.has(`${sent.commit} ${sent.context}`);
    const behaviour = status === null ? UNFINDABLE : behave(this.#random, this.#now, isFaulty, isPoison, this.#isApp);
    if (status) this.judge.sent({ ...sent, at: this.#now, status }, builds);
    let made: number | null = null;
    for (const after of behaviour.appliedAfter)
      this.#at(this.#now + after, () => {
        made = this.judge.applied(sent, status!);
      });
    const life = this.#life;
    this.#at(this.#now + behaviour.answerAfter, () => {
      if (life !== this.#life) return;
      const outcome = named(behaviour.outcome(this.#now), made);
      this.judge.answered(sent, outcome, behaviour, this.#now, status);
      this.#statuses.inFlight = null;
      const { commit, pace } = takeAnswer(this.#statuses, sent, outcome, this.#now, this.#rules);
      this.#statuses.pace = pace;
      this.#disk.pace = JSON.stringify(pace);
      if (commit) {
        this.#keep(sent.commit, commit);
        this.#unsaved.set(sent.commit, commit);
      }
      this.#pump();
    });
  }

  /** Returns the status with the run that GitHub found for it; null if GitHub did not return its runs. */
  #looked(status: Status, sent: SentStatus, isFaulty: boolean): Status | null {
    if (!this.#isApp || !status.mayHaveRun) return status;
    if (isFaulty && this.#random.chance(UNFOUND)) return null;
    return { ...status, checkRunId: this.judge.newestRun(sent, status) ?? status.checkRunId };
  }

  #buildsOf(commit: Commit): KnownBuild[] {
    const key = commitKey(commit);
    return [...this.#known.values()]
      .filter((build) => build.commit === key)
      .map((build) => ({ ...build, isGivenUp: this.#isGivenUp(commit, build.context) }));
  }

  #isGivenUp(commit: Commit, context: string): boolean {
    return commit.own.some((line) => line.context === context && line.givenUp !== null);
  }

  #save(): void {
    for (const [key, commit] of this.#unsaved) this.#disk.commits.set(key, JSON.stringify(commit));
    this.#unsaved.clear();
  }

  #crash(): void {
    const wasCutOff = this.#statuses.inFlight !== null;
    this.#life += 1;
    this.judge.crashed(this.#now);
    const stored = [...this.#disk.commits].map(([key, text]): [string, Commit] => [key, JSON.parse(text)]);
    const open = new Map(stored.filter(([, { endedAt }]) => endedAt === null));
    this.#statuses = { commits: open, pace: JSON.parse(this.#disk.pace), inFlight: null };
    this.#unsaved = new Map();
    if (wasCutOff) {
      for (const commit of cutOff(this.#statuses, this.#now, this.#rules)) this.#keep(commitKey(commit), commit);
    }
    const next = nextStatus(this.#statuses, GAP_MS, this.#now, this.#rules);
    if (next && "due" in next) this.#statuses.pace = { ...this.#statuses.pace, sentAt: this.#now };
    this.#pump();
  }

  /** The host's last state of each context is the result of its newest build. */
  #checkEnd(): void {
    const failed = new Map<string, boolean>();
    for (const { commit, context, buildId, state } of this.#known.values()) {
      failed.set(commit, (failed.get(commit) ?? false) || state !== "success");
      if (this.#poison.has(`${commit} ${context}`)) continue;
      const word = this.judge.word(commit, context);
      if (word?.buildId !== buildId || word.state !== state) {
        this.judge.breaks(
          "ends right",
          `${commit} ${context}: ${word?.buildId} ${word?.state}, not ${buildId} ${state}`,
        );
      }
    }
    for (const [commit, isFailed] of failed) {
      const word = this.judge.word(commit, REPOSITORY_CONTEXT);
      const expected = isFailed ? "failure" : "success";
      if (word?.state !== expected) {
        this.judge.breaks("ends right", `${commit} as a whole: ${word?.state}, not ${expected}`);
      }
    }
  }
}

/** Runs one history. @returns the number of its requests, and the laws that they broke */
export const statusHistory = (seed: number, history: number, rules: StatusRules): StatusJudge =>
  new StatusHistory(seed, history, rules).run();
