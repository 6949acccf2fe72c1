import { HostProblem } from "../../githosts/core/host-api.ts";
import {
  type Attempt,
  chooseOrders,
  type DeliveryMemory,
  deliverAgain,
  failedAttempts,
  findMissed,
  MISSED_RULES,
  type MissedDelivery,
  refOfDelivery,
} from "../../githosts/github/missed-deliveries.ts";
import { log } from "../../log.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";
import type { HostApp } from "./connection.ts";
import type { HostStore } from "./store.ts";

/** Milliseconds between two checks while the host delivers. `QUIET_MS` applies while it has nothing to deliver. */
const BUSY_MS = 15 * MINUTE_MS;
const QUIET_MS = HOUR_MS;
/** Milliseconds until the next check if a delivery had to wait. */
const LEFT_MS = MINUTE_MS;
/** GitHub requires this pause between two requests that change something. */
const GAP_MS = SECOND_MS;
/** Pages of the list, and complete deliveries, that one check reads at most. */
const MOST_PAGES = 5;
const MOST_WHOLE = 40;

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, GAP_MS));

/** Reports whether the error concerns only this delivery instead of GitHub as a whole. */
const isItsOwn = (error: unknown): boolean =>
  error instanceof HostProblem && ["missing", "refused", "stranger"].includes(error.kind);

/** Has GitHub redeliver an App's failed deliveries: the newest failed delivery for each ref. */
export class MissedDeliveries {
  readonly #store: HostStore;

  constructor(store: HostStore) {
    this.#store = store;
  }

  /** The time of the next check, in milliseconds since 1970; null if there is no next check. */
  get lookAt(): number | null {
    return this.#store.meta("lookAt");
  }

  /** Starts the checks, or moves the next check forward, because GitHub delivered something. */
  stir(now: number): void {
    if ((this.lookAt ?? Number.POSITIVE_INFINITY) > now + BUSY_MS) this.#store.setMeta("lookAt", now + BUSY_MS);
  }

  stop(): void {
    if (this.lookAt !== null) this.#store.deleteMeta("lookAt");
  }

  /** Checks once and sets the time of the next check, even if GitHub does not answer. Never throws. */
  async look(app: HostApp, apiUrl: string): Promise<void> {
    const now = Date.now();
    const [last] = this.#store.deliveries(1);
    const isBusy = last !== undefined && now - last.at < DAY_MS;
    this.#store.setMeta("lookAt", now + (isBusy ? BUSY_MS : QUIET_MS));
    try {
      if ((await this.#lookNow(app, apiUrl, now)) > 0) this.#store.setMeta("lookAt", Date.now() + LEFT_MS);
    } catch (error) {
      log.warn("host.missed_deliveries_unread", { ...this.#store.owner, error });
    }
  }

  /** @returns how many deliveries have to wait for the next check @throws HostProblem */
  async #lookNow(app: HostApp, apiUrl: string, now: number): Promise<number> {
    const listed = await this.#listed(app, apiUrl, now);
    if (listed.length === 0) return 0;
    const memory = this.#store.missed(now);
    const arrived = this.#store.deliveries(LIMITS.deliveries).map(({ id, at, repository, ref }) => ({
      guid: id,
      at,
      repositoryId: repository?.hostRepoId ?? null,
      ref,
    }));
    const candidates = findMissed(listed, memory, arrived, now, MISSED_RULES);
    const missed = await this.#withRefs(candidates, app, apiUrl);
    const { again, over, left } = chooseOrders(missed, listed, arrived, MISSED_RULES);
    for (const one of over) this.#remember({ ...one, isOver: true });
    for (const one of again) await this.#order(one, app, apiUrl);
    return left;
  }

  async #listed(app: HostApp, apiUrl: string, now: number): Promise<Attempt[]> {
    const listed: Attempt[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < MOST_PAGES; page++) {
      const { attempts, next } = await failedAttempts(apiUrl, await app.jwt(), cursor);
      listed.push(...attempts);
      const oldest = attempts.at(-1);
      if (!oldest || next === null || MISSED_RULES.isOld(oldest.at, now)) break;
      cursor = next;
    }
    return listed;
  }

  /** Adds the refs of the deliveries. Requests unknown refs from GitHub, for the newest deliveries first. */
  async #withRefs(missed: MissedDelivery[], app: HostApp, apiUrl: string): Promise<MissedDelivery[]> {
    const deliveries: MissedDelivery[] = [];
    let requests = 0;
    for (const one of missed) {
      if (one.ref !== undefined || requests >= MOST_WHOLE) {
        deliveries.push(one);
        continue;
      }
      requests += 1;
      const withRef = { ...one, ref: await this.#readRef(one, app, apiUrl) };
      this.#remember(withRef);
      deliveries.push(withRef);
    }
    return deliveries;
  }

  async #readRef({ attemptId }: MissedDelivery, app: HostApp, apiUrl: string): Promise<string | null> {
    try {
      return await refOfDelivery(apiUrl, await app.jwt(), attemptId);
    } catch (error) {
      if (isItsOwn(error)) return null;
      throw error;
    }
  }

  /** Counts the attempt before making it. A repeated alarm then cannot exceed the limit. */
  async #order(one: MissedDelivery, app: HostApp, apiUrl: string): Promise<void> {
    const tried = { ...one, tries: one.tries + 1, triedAt: Date.now() };
    this.#remember(tried);
    try {
      await deliverAgain(apiUrl, await app.jwt(), one.attemptId);
    } catch (error) {
      if (!isItsOwn(error)) throw error;
      this.#remember({ ...tried, isOver: true });
    }
    await pause();
  }

  #remember({ guid, firstAt, tries, triedAt, ref, isOver }: DeliveryMemory): void {
    this.#store.rememberMissed({ guid, firstAt, tries, triedAt, ref, isOver });
  }
}
