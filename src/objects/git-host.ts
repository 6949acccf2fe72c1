import { DurableObject } from "cloudflare:workers";
import type { DeliveryNote } from "../domain/githost/delivery-note.ts";
import { type HostHealth, healthOf, type StatusView, statusViews } from "../domain/githost/host-health.ts";
import type { HostReport } from "../domain/githost/host-report.ts";
import { STATUS_RULES } from "../domain/githost/status-rules.ts";
import { HostConnection, type Known } from "./git-host-connection.ts";
import { HostStatuses } from "./git-host-statuses.ts";
import { HostStore } from "./git-host-store.ts";

/** Milliseconds for which one alarm tells the host: far below the 15 minutes that it may take. */
const ALARM_MS = 5 * 60_000;
/** Milliseconds until an alarm that failed is repeated: doubled each time, up to ten minutes. */
const RETRY_MS = 30_000;
const MOST_RETRY_MS = 10 * 60_000;
/** Milliseconds after the first delivery until the object looks whether its connection is there. */
const LOOK_MS = 60_000;
/** Commits of which a status was given up that are listed. */
const GIVEN_UP_LISTED = 20;

/** What one connection was told and has told its git host: one object for each connection. */
export class GitHost extends DurableObject<Env> {
  readonly #store: HostStore;
  readonly #connection: HostConnection;
  #loaded: HostStatuses | null = null;
  /** The alarm that is set, as far as this object knows. */
  #alarmAt: number | null = null;
  #isTelling = false;
  /** How often in a row the connection could not be read. */
  #misreads = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new HostStore(ctx.storage);
    this.#connection = new HostConnection(env);
    ctx.blockConcurrencyWhile(async () => {
      this.#alarmAt = await ctx.storage.getAlarm();
    });
  }

  get #statuses(): HostStatuses {
    this.#loaded ??= new HostStatuses(this.#store, Date.now());
    return this.#loaded;
  }

  /** Keeps what the host has to be told. May be repeated, in any order: the newest of a build counts. */
  async report(reports: HostReport[]): Promise<void> {
    if (this.#connection.isSilent) return;
    this.#keepName();
    this.#statuses.report(reports, Date.now());
    await this.#schedule();
  }

  /** Tells the host what is due. */
  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    // The platform gives an alarm up after six failures: from the second try on the next one is set before the work.
    if (info?.isRetry) {
      await this.ctx.storage.setAlarm(Date.now() + RETRY_MS);
      if (this.#loaded === null) this.#statuses.recover(Date.now());
    }
    this.#alarmAt = null;
    this.#isTelling = true;
    try {
      await this.#tell(Date.now() + ALARM_MS);
      this.#misreads = 0;
    } catch (error) {
      this.#misreads += 1;
      console.error("host: the connection could not be read; the next alarm will try again", error);
    }
    this.#isTelling = false;
    await this.#schedule();
  }

  #read(): Promise<Known> {
    return this.#connection.read(this.ctx.id.name ?? this.#store.meta("name") ?? "");
  }

  async #tell(until: number): Promise<void> {
    if (this.#statuses.nextAt(Date.now()) === null && (await this.#read()).state === "gone") return this.destroy();
    for (;;) {
      const [now, at] = [Date.now(), this.#statuses.nextAt(Date.now())];
      if (at === null || at > now + 1_000 || now >= until) return;
      const known = await this.#read();
      if (known.state === "gone") return this.destroy();
      if (known.state === "silent") return this.#drop();
      if (await this.#statuses.tell(known.address, until)) this.#connection.forget();
    }
  }

  #drop(): void {
    this.#loaded?.drop();
    this.#loaded = null;
    this.#store.dropCommits();
  }

  /** Sets the alarm where something is due before it. An alarm that is under way sets it at its end. */
  async #schedule(): Promise<void> {
    if (this.#isTelling) return;
    const now = Date.now();
    const due = this.#loaded?.nextAt(now) ?? null;
    if (due === null) return;
    const wait = this.#misreads === 0 ? 0 : Math.min(RETRY_MS * 2 ** (this.#misreads - 1), MOST_RETRY_MS);
    const at = Math.max(due, now + wait);
    await this.#setAlarm(at);
  }

  /** How the connection gets on with its host. */
  async health(): Promise<HostHealth> {
    return healthOf(this.#statuses.state, this.#store.withGivenUp(GIVEN_UP_LISTED), STATUS_RULES);
  }

  /** What became of the statuses of a commit. */
  async statuses(repoId: number, sha: string): Promise<StatusView[]> {
    const commit = this.#statuses.commit(repoId, sha);
    return commit ? statusViews(commit) : [];
  }

  /** Reads the connection anew the next time, and tries what waits for it: its token may have been changed. */
  async connectionChanged(): Promise<void> {
    this.#connection.forget();
    this.#statuses.resume(Date.now());
    await this.#schedule();
  }

  /** Remembers a delivery and what came of it. */
  async noteDelivery(note: DeliveryNote): Promise<void> {
    if (!this.#store.noteDelivery(note)) return;
    // A delivery may be noted after the connection was deleted: nobody would delete what it leaves here.
    this.#keepName();
    await this.#setAlarm(Date.now() + LOOK_MS);
  }

  #keepName(): void {
    const { name } = this.ctx.id;
    if (name && this.#store.meta("name") === null) this.#store.setMeta("name", name);
  }

  async #setAlarm(at: number): Promise<void> {
    if (this.#alarmAt !== null && this.#alarmAt <= at) return;
    this.#alarmAt = at;
    await this.ctx.storage.setAlarm(at);
  }

  /** The last deliveries, the newest first. */
  async deliveries(limit: number): Promise<DeliveryNote[]> {
    return this.#store.deliveries(limit);
  }

  /** Deletes everything that this object holds. */
  async destroy(): Promise<void> {
    this.#loaded?.drop();
    this.#loaded = null;
    this.#connection.forget();
    await this.ctx.storage.deleteAlarm();
    this.#alarmAt = null;
    await this.#store.deleteAll();
  }
}
