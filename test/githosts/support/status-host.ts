import { isOver } from "../../../src/githosts/core/host-report.ts";
import type { Status } from "../../../src/githosts/core/status.ts";
import { readStatusOutcome, type StatusOutcome } from "../../../src/githosts/core/status-answers.ts";
import { REPOSITORY_CONTEXT, type SentStatus } from "../../../src/githosts/core/statuses.ts";
import type { Random } from "../../simulate/random.ts";

const SECOND = 1_000;
const PATIENCE = 10 * SECOND;
/** The longest delay with which a host processes an unanswered request. */
const LATEST = 40 * SECOND;
/** How long the service expects that. */
const DOUBT = 60 * SECOND;

const FAULTS = [
  ["well", 50],
  ["late", 8],
  ["lost", 8],
  ["twice", 6],
  ["500", 5],
  ["done-502", 5],
  ["409", 5],
  ["429-after", 4],
  ["429-reset", 3],
  ["403-limit", 2],
  ["401", 3],
  ["403", 2],
] as const;
const TOTAL = FAULTS.reduce((sum, [, weight]) => sum + weight, 0);

/** The result of a request: when and how it is answered, and when the host processes it, if at all. */
export interface Behaviour {
  answerAfter: number;
  outcome: (now: number) => StatusOutcome;
  appliedAfter: number[];
  /** Until when the host accepts no more requests. */
  notBefore: number;
}

const answer = (status: number, headers: Record<string, string> = {}, body = "{}") => ({
  ...{ status, headers: new Headers(headers), body, isCut: false, isMoved: false },
});

const answered = (status: number, appliedAfter: number[], headers?: Record<string, string>): Behaviour => ({
  ...{
    answerAfter: 120,
    appliedAfter,
    notBefore: 0,
    outcome: (now) => readStatusOutcome(answer(status, headers), now),
  },
});

const unanswered = (appliedAfter: number[]): Behaviour => ({
  ...{ answerAfter: PATIENCE, appliedAfter, notBefore: 0 },
  outcome: (now) => readStatusOutcome({ unreachable: "it did not answer within 10 s" }, now),
});

/** Chooses the host's behaviour for one request. `poison` is always rejected. */
export const behave = (
  random: Random,
  now: number,
  isFaulty: boolean,
  isPoison: boolean,
  isApp: boolean,
): Behaviour => {
  if (isPoison) return answered(422, []);
  if (!isFaulty) return answered(201, [60]);
  const pause = 5 + random.below(600);
  switch (random.weighted(FAULTS, TOTAL)) {
    case "late":
      return unanswered([PATIENCE + random.below(LATEST)]);
    case "lost":
      return unanswered([]);
    case "twice":
      // A repeat would create a second run, which nobody could know.
      return answered(201, isApp ? [60] : [60, 60 + random.below(100)]);
    case "500":
      return answered(500, []);
    case "done-502":
      return answered(502, [60 + random.below(LATEST)]);
    case "409":
      return answered(409, []);
    case "429-after":
      return { ...answered(429, [], { "Retry-After": String(pause) }), notBefore: now + pause * SECOND };
    case "429-reset": {
      const at = Math.ceil(now / SECOND) + pause;
      const headers = { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": String(at) };
      return { ...answered(429, [], headers), notBefore: at * SECOND };
    }
    case "403-limit":
      return { ...answered(403, [], { "Retry-After": String(pause) }), notBefore: now + pause * SECOND };
    case "401":
      return answered(401, []);
    case "403":
      return answered(403, []);
    default:
      return answered(201, [60]);
  }
};

interface Try extends SentStatus {
  at: number;
  status: Status;
}

/** The builds of one commit that the service knows when it sends, for the checks of a request. */
export interface KnownBuild {
  context: string;
  buildId: string;
  number: number;
  state: string;
  since: number;
  isGivenUp: boolean;
}

/** The laws that every history must keep. Each mutant breaks one of them. */
export type Law =
  | "one in flight"
  | "a second apart"
  | "waits as told"
  | "backs off"
  | "nothing after its end"
  | "newest wins"
  | "not twice"
  | "given up is given up"
  | "rests"
  | "one run a build"
  | "repository is honest"
  | "never all green while one lives"
  | "ends right";

/** Judges the requests that a host gets, and knows its last state of each context. */
export class StatusJudge {
  readonly broken = new Map<Law, string>();
  readonly #last = new Map<string, SentStatus>();
  readonly #tries = new Map<
    string,
    { at: number; failures: number; told: boolean; refused: boolean; unsure: boolean }
  >();
  readonly #ended = new Set<string>();
  readonly #newest = new Map<string, number>();
  /** GitHub's runs, and those that an answer named. */
  readonly #runs = new Map<number, { line: string; externalId: string; sent: SentStatus }>();
  readonly #knownRuns = new Map<string, number>();
  readonly #isApp: boolean;
  #inFlight = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #notBefore = 0;
  /** Until when each line, or any, may get a late state. */
  readonly #doubts = new Map<string, number>();
  #doubtUntil = 0;

  /** The number of requests. */
  posts = 0;

  /** @param isApp Whether the host shows check runs, not statuses. */
  constructor(isApp: boolean) {
    this.#isApp = isApp;
  }

  breaks(law: Law, detail: string): void {
    if (!this.broken.has(law)) this.broken.set(law, detail);
  }

  /** Returns the host's last state; undefined if it has none. */
  word(commit: string, context: string): SentStatus | undefined {
    return this.#last.get(`${commit} ${context}`);
  }

  /** @returns the run that shows it; null if the host has none */
  applied(sent: SentStatus, { checkRunId, externalId }: Status): number | null {
    const line = `${sent.commit} ${sent.context}`;
    if (!this.#isApp) this.#last.set(line, sent);
    if (!this.#isApp) return null;
    const id = checkRunId ?? this.#runs.size + 1;
    this.#runs.set(id, { line, externalId, sent });
    const newest = Math.max(...[...this.#runs].filter(([, run]) => run.line === line).map(([run]) => run));
    this.#last.set(line, this.#runs.get(newest)!.sent);
    return id;
  }

  newestRun({ commit, context }: SentStatus, { externalId }: Status): number | null {
    const own = [...this.#runs].filter(
      ([, run]) => run.line === `${commit} ${context}` && run.externalId === externalId,
    );
    return own.length > 0 ? Math.max(...own.map(([id]) => id)) : null;
  }

  /**
   * The service lost its memory: nobody reads the answers to requests in flight, and earlier answers may not have been
   * stored.
   */
  crashed(now: number): void {
    this.#inFlight = 0;
    this.#doubtUntil = now + DOUBT;
    this.#tries.clear();
    this.#knownRuns.clear();
  }

  sent({ at, status, ...sent }: Try, builds: KnownBuild[]): void {
    this.posts += 1;
    const line = `${sent.commit} ${sent.context}`;
    const words = `${line} ${sent.buildId} ${sent.state} at ${at}`;
    if (this.#inFlight > 0) this.breaks("one in flight", words);
    if (at - this.#sentAt < SECOND) this.breaks("a second apart", words);
    if (at < this.#notBefore) this.breaks("waits as told", words);
    this.#inFlight += 1;
    this.#sentAt = at;
    this.#checkTries(this.#key(sent), at, words);
    const changed = status.checkRunId === null ? undefined : this.#runs.get(status.checkRunId);
    if (changed && changed.externalId !== status.externalId) this.breaks("one run a build", words);
    if (status.checkRunId === null && this.#knownRuns.has(`${line} ${status.externalId}`))
      this.breaks("one run a build", words);
    if (sent.context === REPOSITORY_CONTEXT) this.#checkRepository(sent, builds, words);
    else this.#checkBuild(sent, builds, words, at, isOver(status));
    if (sent.state === "success") this.#checkGreen(sent, builds, words);
    if (status.description.length > 140) this.breaks("ends right", words);
  }

  #key({ commit, context, buildId, state, since }: SentStatus): string {
    return `${commit} ${context} ${state} ${context === REPOSITORY_CONTEXT || this.#isApp ? since : buildId}`;
  }

  #checkTries(key: string, at: number, words: string): void {
    const before = this.#tries.get(key);
    if (!before) return;
    if (before.refused) this.breaks("given up is given up", words);
    if (before.told && !before.unsure) this.breaks("not twice", words);
    const wait = Math.min(2 * SECOND * 2 ** (before.failures - 1), 60 * SECOND);
    if (before.failures > 0 && at - before.at < wait) this.breaks("backs off", words);
  }

  #checkBuild(sent: SentStatus, builds: KnownBuild[], words: string, at: number, isEnd: boolean): void {
    const line = `${sent.commit} ${sent.context}`;
    const known = builds.find(({ context, buildId }) => context === sent.context && buildId === sent.buildId);
    const number = known?.number ?? -1;
    if (!isEnd && this.#ended.has(`${line} ${sent.buildId}`)) this.breaks("nothing after its end", words);
    if (isEnd) this.#ended.add(`${line} ${sent.buildId}`);
    if (number < (this.#newest.get(line) ?? -1)) this.breaks("newest wins", words);
    this.#newest.set(line, Math.max(number, this.#newest.get(line) ?? -1));
    if (!isEnd && known && at < known.since + 1_500) this.breaks("rests", words);
  }

  #checkRepository(sent: SentStatus, builds: KnownBuild[], words: string): void {
    const states = builds.map(({ state }) => state);
    const isFailed = states.some((state) => state === "failure" || state === "error");
    const expected = isFailed ? "failure" : states.every((state) => state === "success") ? "success" : "pending";
    if (sent.state !== expected) this.breaks("repository is honest", `${words}, not ${expected}`);
  }

  #checkGreen(sent: SentStatus, builds: KnownBuild[], words: string): void {
    for (const { context, buildId, state, isGivenUp } of builds) {
      const isHidden = this.word(sent.commit, context)?.buildId !== buildId;
      const mayCome = this.#doubts.has(`${sent.commit} ${context}`);
      if (state === "pending" && isHidden && !isGivenUp && !mayCome) {
        this.breaks("never all green while one lives", words);
      }
    }
  }

  answered(sent: SentStatus, outcome: StatusOutcome, behaviour: Behaviour, now: number, status: Status | null): void {
    if (status === null) return;
    this.#inFlight = Math.max(0, this.#inFlight - 1);
    if (outcome.kind === "told" && outcome.checkRunId !== undefined)
      this.#knownRuns.set(`${sent.commit} ${sent.context} ${status.externalId}`, outcome.checkRunId);
    this.#notBefore = Math.max(this.#notBefore, behaviour.notBefore);
    const key = this.#key(sent);
    const line = `${sent.commit} ${sent.context}`;
    const before = this.#tries.get(key) ?? { at: now, failures: 0, told: false, refused: false, unsure: false };
    const isUnsure = outcome.kind === "away" && outcome.isUnsure;
    if (isUnsure) this.#doubts.set(line, now + DOUBT);
    const isAway = outcome.kind === "away" || outcome.kind === "busy";
    this.#tries.set(key, {
      at: now,
      failures: isAway ? before.failures + 1 : 0,
      told: outcome.kind === "told",
      refused: outcome.kind === "refused",
      // A state reported while a late one may arrive is reported again.
      unsure: outcome.kind === "told" && now < Math.max(this.#doubtUntil, this.#doubts.get(line) ?? 0),
    });
    // A state reported in the meantime allows an earlier state of the line to be reported again.
    for (const [other, facts] of this.#tries) {
      if (outcome.kind === "told" && other.startsWith(`${line} `) && other !== key) facts.told = false;
    }
  }
}
