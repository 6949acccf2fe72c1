import { type HostReport, isOver, type LeftOut, withoutPhases, withoutRef } from "../../githosts/core/host-report.ts";
import { cutOff, type DueStatus, nextStatus, toSentStatus } from "../../githosts/core/next-status.ts";
import { type PostResult, postStatus, type StatusAddress } from "../../githosts/core/post-status.ts";
import { setAside, withEndTime, withLeftOut, withoutOld, withReport } from "../../githosts/core/report-status.ts";
import { toStatus } from "../../githosts/core/status.ts";
import { takeAnswer } from "../../githosts/core/status-answers.ts";
import { STATUS_RULES } from "../../githosts/core/status-rules.ts";
import {
  AT_EASE,
  type Commit,
  type CommitName,
  commitKey,
  REPOSITORY_CONTEXT,
  type SentStatus,
  type Statuses,
} from "../../githosts/core/statuses.ts";
import { HOSTS } from "../../githosts/hosts.ts";
import { log } from "../../log.ts";
import { HOUR_MS } from "../../protocol/units.ts";
import type { HostStore } from "./store.ts";

/** Milliseconds for which one run waits for the next status itself. For a longer wait, it uses an alarm. */
const INLINE_MS = 1_200;
/**
 * Lines of the commits in memory: about 10 MB. Above this, the object sets the oldest commits aside until it has fewer
 * lines.
 */
const MOST_LINES = 20_000;
const FEWER_LINES = 15_000;
/** Milliseconds between two cleanups of old rows. */
const TIDY_MS = HOUR_MS;

const LONGEST_GAP_MS = Math.max(...Object.values(HOSTS).map(({ statusGapMs }) => statusGapMs));

/** The distinctions that a host makes: a build's progress, and each branch and tag of a commit. */
interface Hearing {
  hearsPhases: boolean;
  hasRefs: boolean;
}

/** The statuses for one connection's host. Unfinished statuses are in memory, and all statuses are on disk. */
export class HostStatuses {
  readonly #store: HostStore;
  readonly #state: Statuses;
  readonly #summaryOf: (buildId: string) => Promise<string | null>;
  /** Names of repositories that the host returned since the object woke up. */
  readonly #names = new Map<number, string>();
  /** Commits whose last answer is not on disk yet. If the object loses an answer, it resends that status. */
  readonly #unsaved = new Map<string, Commit>();
  #tidyAt = 0;
  /** The longest gap that any host requires, until the host is known. */
  #gapMs = LONGEST_GAP_MS;
  #isDropped = false;

  /** @param summaryOf Returns the summary that a build wrote. */
  constructor(store: HostStore, summaryOf: (buildId: string) => Promise<string | null>, now: number) {
    this.#store = store;
    this.#summaryOf = summaryOf;
    for (const commit of store.openBeyond(MOST_LINES)) store.save([setAside(commit, now, STATUS_RULES)], now);
    this.#state = { commits: store.open(), pace: store.pace(), inFlight: null };
    // Something was due when the object stopped. The object may have sent a request just before it stopped.
    const next = this.#next(now);
    if (next && "due" in next) this.#state.pace = { ...this.#state.pace, sentAt: now };
  }

  get state(): Readonly<Statuses> {
    return this.#state;
  }

  /** Finds a known commit, ended or not. */
  #commit(name: CommitName): Commit | undefined {
    const key = commitKey(name);
    return this.#unsaved.get(key) ?? this.#state.commits.get(key) ?? this.#store.commit(name);
  }

  /** Finds a known commit on each of its refs. */
  onEachRef(repoId: number, sha: string): Commit[] {
    return this.#store.onEachRef(repoId, sha).map((commit) => this.#commit(commit) ?? commit);
  }

  /**
   * Returns the report as this host gets it. A report that began without a ref under an earlier release also ends
   * without one.
   */
  #heard(report: HostReport, { hearsPhases, hasRefs }: Hearing): HostReport {
    const whole = withoutRef(hearsPhases ? report : withoutPhases(report));
    const isBegun = () => this.#commit(whole)?.own.some(({ wanted }) => wanted.buildId === report.buildId);
    return !hasRefs || isBegun() ? whole : { ...whole, ref: report.ref };
  }

  /** Accepts reports, in one transaction. */
  report(reports: HostReport[], hearing: Hearing, now: number): void {
    const changed = new Map<string, Commit>();
    for (const wholeReport of reports) {
      const report = this.#heard(wholeReport, hearing);
      const key = commitKey(report);
      const before = changed.get(key) ?? this.#commit(report);
      const commit = withReport(before, report, now, STATUS_RULES);
      if (commit && commit !== before) changed.set(key, withEndTime(commit, now, STATUS_RULES));
    }
    this.#tidy(now);
    if (changed.size === 0) return;
    this.#store.save(changed.values(), now);
    for (const commit of changed.values()) this.#keep(commit);
    this.#bound(now);
    const origin = reports.findLast((report) => report.origin !== null)?.origin;
    if (origin && origin !== this.#store.meta("origin")) this.#store.setMeta("origin", origin);
  }

  /** Records pipelines without a build. The commit cannot succeed without these pipelines. */
  leaveOut(report: LeftOut, { hasRefs }: Hearing, now: number): void {
    const leftOut = hasRefs ? report : withoutRef(report);
    const before = this.#commit(leftOut);
    const commit = withLeftOut(before, leftOut, now, STATUS_RULES);
    if (!commit || commit === before) return;
    this.#replace(commit, now);
    this.#bound(now);
  }

  /** Keeps the newest commits in memory. Does not report the other commits until they have a new state. */
  #bound(now: number): void {
    let lines = 0;
    for (const { own } of this.#state.commits.values()) lines += own.length + 1;
    if (lines <= MOST_LINES) return;
    this.#saveAnswers();
    for (const commit of this.#store.openBeyond(FEWER_LINES)) this.#replace(setAside(commit, now, STATUS_RULES), now);
  }

  #replace(commit: Commit, now: number): void {
    this.#store.save([commit], now);
    this.#keep(commit);
  }

  #keep(commit: Commit): void {
    const key = commitKey(commit);
    this.#unsaved.delete(key);
    if (commit.endedAt === null) this.#state.commits.set(key, commit);
    else this.#state.commits.delete(key);
  }

  #tidy(now: number): void {
    if (now < this.#tidyAt) return;
    this.#tidyAt = now + TIDY_MS;
    this.#store.tidy(now);
    for (const commit of this.#state.commits.values()) {
      const rest = withoutOld(commit, now, STATUS_RULES);
      if (rest !== commit) this.#replace(rest, now);
    }
  }

  #next(now: number) {
    return nextStatus(this.#state, this.#gapMs, now, STATUS_RULES);
  }

  /** Handles a request that was in flight when the object was interrupted. */
  recover(now: number): void {
    for (const commit of cutOff(this.#state, now, STATUS_RULES)) this.#state.commits.set(commitKey(commit), commit);
  }

  /** Restarts at once, because a person changed the connection. */
  resume(now: number): void {
    if (this.#state.pace.trouble === null) return;
    this.#state.pace = { ...AT_EASE, sentAt: now };
    this.#store.setMeta("pace", this.#state.pace);
  }

  /** Returns when the next status may be sent; null if no status waits. */
  nextAt(now: number): number | null {
    const next = this.#next(now);
    return next && ("at" in next ? next.at : now);
  }

  /**
   * Sends due statuses one by one. Stops when none is due soon, when the time is over, or when the host rejects the
   * token.
   * @returns whether the host rejected the token
   */
  async tell(address: StatusAddress, until: number): Promise<boolean> {
    this.#gapMs = address.host.statusGapMs;
    this.#tidy(Date.now());
    try {
      for (;;) {
        const now = Date.now();
        const next = this.#next(now);
        if (!next || now >= until) return false;
        if ("due" in next) {
          if (await this.#tellOne(address, next.due)) return true;
        } else if (next.at - now > INLINE_MS) return false;
        else await new Promise((resolve) => setTimeout(resolve, next.at - now));
      }
    } finally {
      this.#saveAnswers();
    }
  }

  /** @returns whether the host rejected the token */
  async #tellOne(address: StatusAddress, due: DueStatus): Promise<boolean> {
    const sentStatus = toSentStatus(due);
    const { repoId, fullName } = due.commit;
    const status = toStatus(due, this.#store.meta("origin"), STATUS_RULES);
    if (!this.#unsaved.has(sentStatus.commit)) this.#saveAnswers();
    this.#state.inFlight = sentStatus;
    if (address.isApp) status.summary = await this.#summaryFor(due);
    this.#state.pace = { ...this.#state.pace, sentAt: Date.now() };
    const posted = await postStatus(address, { ...status, fullName: this.#names.get(repoId) ?? fullName });
    this.#state.inFlight = null;
    if (posted.fullName !== null) this.#names.set(repoId, posted.fullName);
    this.#take(sentStatus, posted);
    return posted.outcome.kind === "unauthorized";
  }

  /**
   * Returns the summary for a status. Returns null if the pool is unavailable: the state matters more than its text.
   */
  async #summaryFor({ line: { context, wanted } }: DueStatus): Promise<string | null> {
    if (context === REPOSITORY_CONTEXT || !isOver(wanted)) return null;
    try {
      return await this.#summaryOf(wanted.buildId);
    } catch (error) {
      log.warn("host.summary_unread", { ...this.#store.owner, buildId: wanted.buildId, error });
      return null;
    }
  }

  #take(sentStatus: SentStatus, { outcome }: PostResult): void {
    if (this.#isDropped) return;
    const now = Date.now();
    const before = this.#state.pace;
    const { commit, pace } = takeAnswer(this.#state, sentStatus, outcome, now, STATUS_RULES);
    this.#state.pace = pace;
    if (pace.failures !== before.failures || pace.trouble !== before.trouble) this.#store.setMeta("pace", pace);
    if (!commit) return;
    if (outcome.kind === "refused") {
      log.warn("host.status_given_up", { ...this.#store.owner, sha: commit.sha, reason: outcome.reason });
    }
    this.#keep(commit);
    this.#unsaved.set(sentStatus.commit, commit);
  }

  /** Saves answers. Two consecutive statuses of one commit share one write of its row. */
  #saveAnswers(): void {
    if (this.#unsaved.size === 0) return;
    this.#store.save(this.#unsaved.values(), Date.now());
    this.#unsaved.clear();
  }

  /** Forgets all statuses for good. Answers that arrive later change nothing. */
  drop(): void {
    this.#isDropped = true;
    this.#unsaved.clear();
    this.#state.commits.clear();
  }
}
