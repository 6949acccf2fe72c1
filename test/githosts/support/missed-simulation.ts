import {
  type ArrivedDelivery,
  type Attempt,
  chooseOrders,
  type DeliveryMemory,
  findMissed,
  MISSED_RULES,
  type MissedRules,
} from "../../../src/githosts/github/missed-deliveries.ts";
import { Random } from "../../simulate/random.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);
const ROUND_MS = 15 * MINUTE;
const LONGEST_MS = 3 * 60 * MINUTE;
/** The number that GitHub lists at once. */
const LISTED = 100;

export type MissedLaw = "every head arrives" | "no older head after a newer" | "three tries" | "not what arrived";

interface Push {
  guid: string;
  ref: string;
  at: number;
}

/**
 * A GitHub with pushes to some refs, a service that is down for a while, and rounds that look for missed deliveries.
 */
class MissedHistory {
  readonly broken = new Map<MissedLaw, string>();
  ordered = 0;
  readonly #random: Random;
  readonly #rules: MissedRules;
  readonly #pushes: Push[] = [];
  #attempts: Attempt[] = [];
  readonly #arrived: ArrivedDelivery[] = [];
  readonly #known = new Map<string, DeliveryMemory>();
  readonly #tries = new Map<string, number>();
  readonly #downFrom: number;
  readonly #downUntil: number;

  constructor(seed: number, history: number, rules: MissedRules) {
    this.#random = new Random(seed, history);
    this.#rules = rules;
    this.#downFrom = START + this.#random.below(60 * MINUTE);
    this.#downUntil = this.#downFrom + this.#random.below(90 * MINUTE);
  }

  run(): ReadonlyMap<MissedLaw, string> {
    const random = this.#random;
    const refs = 1 + random.below(6);
    for (let n = 0, of = 5 + random.below(60); n < of; n++)
      this.#pushes.push({
        guid: `g${n}`,
        ref: `refs/heads/b${random.below(refs)}`,
        at: START + random.below(LONGEST_MS),
      });
    this.#pushes.sort((one, other) => one.at - other.at);
    let next = 0;
    for (let now = START; now <= START + LONGEST_MS + 8 * ROUND_MS; now += ROUND_MS) {
      for (; next < this.#pushes.length && this.#pushes[next]!.at <= now; next++) this.#deliver(this.#pushes[next]!);
      if (!this.#isDown(now)) this.#round(now);
    }
    this.#checkHeads();
    return this.broken;
  }

  #breaks(law: MissedLaw, detail: string): void {
    if (!this.broken.has(law)) this.broken.set(law, detail);
  }

  #isDown(at: number): boolean {
    return at >= this.#downFrom && at < this.#downUntil;
  }

  #deliver(push: Push): void {
    // Some get an answer too late for GitHub, and arrive nevertheless.
    const isLate = this.#random.chance(0.1);
    this.#attempt(push, push.at, !this.#isDown(push.at) && !isLate, !this.#isDown(push.at));
  }

  #attempt({ guid, ref }: Push, at: number, isOk: boolean, arrives: boolean): void {
    const attempt = { id: this.#attempts.length + 1, guid, at, isOk, code: isOk ? 202 : 503 };
    this.#attempts.push({ ...attempt, event: "push", action: null, repositoryId: 7 });
    if (arrives && !this.#arrived.some((one) => one.guid === guid))
      this.#arrived.push({ guid, at, repositoryId: 7, ref });
  }

  #round(now: number): void {
    const failed = this.#attempts.filter(({ isOk }) => !isOk);
    const listed = failed.toSorted((one, other) => other.at - one.at || other.id - one.id).slice(0, LISTED);
    const missed = findMissed(listed, this.#known, this.#arrived, now, this.#rules).map((one) => ({
      ...one,
      ref: this.#pushes.find(({ guid }) => guid === one.guid)!.ref,
    }));
    const { again, over } = chooseOrders(missed, listed, this.#arrived, this.#rules);
    for (const { guid, firstAt, tries, ref } of over)
      this.#known.set(guid, { guid, firstAt, tries, ref, isOver: true });
    for (const [n, { guid, firstAt, tries, ref }] of again.entries()) {
      this.#known.set(guid, { guid, firstAt, tries: tries + 1, ref, isOver: false });
      this.#order(guid, now + (n + 1) * 1_000);
    }
  }

  #order(guid: string, at: number): void {
    this.ordered += 1;
    const push = this.#pushes.find((one) => one.guid === guid)!;
    if (this.#arrived.some((one) => one.guid === guid)) this.#breaks("not what arrived", guid);
    const isNewerThere = this.#arrived.some((other) => {
      const pushed = this.#pushes.find((one) => one.guid === other.guid)!;
      return pushed.ref === push.ref && pushed.at > push.at;
    });
    if (isNewerThere) this.#breaks("no older head after a newer", guid);
    const tries = (this.#tries.get(guid) ?? 0) + 1;
    this.#tries.set(guid, tries);
    if (tries > MISSED_RULES.mostTries) this.#breaks("three tries", `${guid}: ${tries}`);
    // The service has occasional problems, and some pushes never arrive.
    const isHopeless = Number(guid.slice(1)) % 17 === 5;
    const isOk = !isHopeless && (tries >= MISSED_RULES.mostTries || this.#random.chance(0.8));
    this.#attempt(push, at, isOk, isOk);
  }

  #checkHeads(): void {
    for (const push of this.#pushes) {
      const isHead = !this.#pushes.some(({ ref, at }) => ref === push.ref && at > push.at);
      const wasTried = (this.#tries.get(push.guid) ?? 0) >= MISSED_RULES.mostTries;
      if (isHead && !wasTried && !this.#arrived.some(({ guid }) => guid === push.guid))
        this.#breaks("every head arrives", `${push.guid} of ${push.ref}`);
    }
  }
}

/** Runs one history. @returns the broken laws, and the number of requested redeliveries */
export const missedHistory = (seed: number, history: number, rules: MissedRules) => {
  const played = new MissedHistory(seed, history, rules);
  return { broken: played.run(), ordered: played.ordered };
};
