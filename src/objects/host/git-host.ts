import { connectionIn } from "../../domain/durable-objects.ts";
import type { DeliveryNote, KeptDelivery } from "../../githosts/core/delivery-note.ts";
import { HostProblem } from "../../githosts/core/host-api.ts";
import { type HostHealth, type StatusView, statusViews, summarizeHealth } from "../../githosts/core/host-health.ts";
import type { HostReport, LeftOut } from "../../githosts/core/host-report.ts";
import { STATUS_RULES } from "../../githosts/core/status-rules.ts";
import { notInstalled, roleAtGithub } from "../../githosts/github/app.ts";
import { HOSTS } from "../../githosts/hosts.ts";
import { log } from "../../log.ts";
import type { Role } from "../../protocol/token.ts";
import { MINUTE_MS, SECOND_MS } from "../../protocol/units.ts";
import { openPool } from "../pool-calls.ts";
import { VersionedObject } from "../versioned-object.ts";
import { type ConnectionState, HostConnection, type TokenAnswer, toTokenAnswer } from "./connection.ts";
import { KeptDeliveries } from "./kept-deliveries.ts";
import { MissedDeliveries } from "./missed-deliveries.ts";
import { HostStatuses } from "./statuses.ts";
import { HostStore } from "./store.ts";

/** Milliseconds for which one alarm tells the host: far below the 15 minutes that it may take. */
const ALARM_MS = 5 * MINUTE_MS;
/** Milliseconds for which it takes deliveries that wait, and then tells the host while more of them wait. */
const SHARE_MS = 30 * SECOND_MS;
/** Milliseconds until an alarm that failed is repeated: doubled each time, up to ten minutes. */
const RETRY_MS = 30 * SECOND_MS;
const MOST_RETRY_MS = 10 * MINUTE_MS;
/** Milliseconds after the first delivery until the object looks whether its connection is there. */
const LOOK_MS = MINUTE_MS;
/** Commits of which a status was given up that are listed. */
const GIVEN_UP_LISTED = 20;

/** Takes a delivery for the connection of this name: the services do, which no object may import. */
type TakeKept = (env: Env, name: string, delivery: KeptDelivery) => Promise<DeliveryNote | null>;

const appIn = (connection: ConnectionState) => (connection.state === "gone" ? null : connection.app);

/** What one connection was told and has told its git host: one object for each connection. */
export class GitHostObject extends VersionedObject {
  readonly #store: HostStore;
  readonly #connection: HostConnection;
  readonly #missed: MissedDeliveries;
  readonly #kept: KeptDeliveries;
  readonly #takeKept: TakeKept;
  #loaded: HostStatuses | null = null;
  /** The alarm that is set, as far as this object knows. */
  #alarmAt: number | null = null;
  #isTelling = false;
  /** How often in a row the connection could not be read. */
  #misreads = 0;

  constructor(ctx: DurableObjectState, env: Env, takeKept: TakeKept) {
    super(ctx, env);
    this.#takeKept = takeKept;
    this.#store = new HostStore(ctx.storage);
    this.#kept = new KeptDeliveries(this.#store);
    this.#missed = new MissedDeliveries(this.#store);
    this.#connection = new HostConnection(env);
    ctx.blockConcurrencyWhile(async () => {
      this.#alarmAt = await ctx.storage.getAlarm();
    });
  }

  get #statuses(): HostStatuses {
    this.#loaded ??= new HostStatuses(this.#store, (buildId) => this.#readSummary(buildId), Date.now());
    return this.#loaded;
  }

  get #name(): string {
    return this.ctx.id.name ?? this.#store.meta("name") ?? "";
  }

  #readSummary(buildId: string): Promise<string | null> {
    return openPool(this.env, connectionIn(this.#name).orgId).summaryOf(buildId);
  }

  /**
   * Keeps what the host has to be told. May be repeated, in any order: the newest of a build counts.
   * @returns whether the host shows as well how far a build is
   */
  async report(reports: HostReport[]): Promise<{ hearsPhases: boolean }> {
    if (this.#connection.isSilent) return { hearsPhases: false };
    await this.#meet();
    this.#statuses.report(reports, this.#hearing, Date.now());
    await this.#schedule();
    return { hearsPhases: this.#isApp };
  }

  /** Keeps which pipelines of a commit have no build. May be repeated. */
  async leaveOut(leftOut: LeftOut): Promise<void> {
    if (this.#connection.isSilent) return;
    await this.#meet();
    this.#statuses.leaveOut(leftOut, this.#hearing, Date.now());
    await this.#schedule();
  }

  /** What the host keeps apart. */
  get #hearing() {
    const kind = this.#store.meta("kind");
    return { hearsPhases: this.#isApp, hasRefs: kind !== null && HOSTS[kind].keepsRefsApart };
  }

  /** Whether the connection is one of an App, as it was read last. */
  get #isApp(): boolean {
    return this.#store.meta("isApp") ?? false;
  }

  /** At its first call the object learns its name and what its connection is: an alarm knows neither. */
  async #meet(): Promise<void> {
    const { name } = this.ctx.id;
    if (!name || this.#store.meta("kind") !== null) return;
    this.#store.setMeta("name", name);
    await this.#read().catch((error) => log.warn("host.connection_unread", { ...connectionIn(this.#name), error }));
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
    await this.#takeWaiting();
    try {
      await this.#tell(Date.now() + (this.#hasWaiting ? SHARE_MS : ALARM_MS));
      await this.#lookForMissed();
      this.#misreads = 0;
    } catch (error) {
      this.#misreads += 1;
      log.error("host.alarm_failed", { ...connectionIn(this.#name), error });
    }
    this.#isTelling = false;
    await this.#schedule();
  }

  /** Whether deliveries wait that may be tried now. */
  get #hasWaiting(): boolean {
    return (this.#kept.nextAt ?? Number.POSITIVE_INFINITY) <= Date.now();
  }

  async #takeWaiting(): Promise<void> {
    if (!this.#hasWaiting) return;
    await this.#kept.take((delivery) => this.#takeKept(this.env, this.#name, delivery), Date.now() + SHARE_MS);
  }

  async #read(): Promise<ConnectionState> {
    const connection = await this.#connection.read(this.#name);
    if (connection.state === "open") this.#store.setMeta("kind", connection.kind);
    const isApp = connection.state === "open" && connection.app !== null;
    if (isApp === this.#isApp) return connection;
    this.#store.setMeta("isApp", isApp);
    if (isApp) this.#missed.stir(Date.now());
    else this.#missed.stop();
    return connection;
  }

  /** After what is due was told: that ends builds for people who wait. */
  async #lookForMissed(): Promise<void> {
    if ((this.#missed.lookAt ?? Number.POSITIVE_INFINITY) > Date.now()) return;
    const connection = await this.#read();
    if (connection.state === "open" && connection.app) await this.#missed.look(connection.app, connection.apiUrl);
  }

  async #tell(until: number): Promise<void> {
    if (this.#statuses.nextAt(Date.now()) === null && (await this.#read()).state === "gone") return this.destroy();
    for (;;) {
      const [now, at] = [Date.now(), this.#statuses.nextAt(Date.now())];
      if (at === null || at > now + SECOND_MS || now >= until) return;
      const connection = await this.#read();
      if (connection.state === "gone") return this.destroy();
      if (connection.state === "silent") return this.#drop();
      const { kind, apiUrl, app } = connection;
      const address = { host: HOSTS[kind], apiUrl, token: await connection.token(), isApp: app !== null };
      if (await this.#statuses.tell(address, until)) this.#connection.forget();
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
    const dueAt = Math.min(...[due, this.#missed.lookAt].filter((at) => at !== null));
    const wait = this.#misreads === 0 ? 0 : Math.min(RETRY_MS * 2 ** (this.#misreads - 1), MOST_RETRY_MS);
    const next = Math.min(Math.max(dueAt, now + wait), this.#kept.nextAt ?? Number.POSITIVE_INFINITY);
    if (next !== Number.POSITIVE_INFINITY) await this.#setAlarm(next);
  }

  /** A token of the App's installation; or why there is none. @throws where the connection cannot be read */
  async installationToken(): Promise<TokenAnswer> {
    const connection = await this.#read();
    return toTokenAnswer(appIn(connection)?.token() ?? Promise.reject(notInstalled()));
  }

  /** A token that reads one repository, for git; or why there is none. @throws where the connection cannot be read */
  async cloneToken(repoId: number, cloneUrl: string): Promise<TokenAnswer> {
    const connection = await this.#read();
    return toTokenAnswer(appIn(connection)?.cloneToken(repoId, cloneUrl) ?? Promise.reject(notInstalled()));
  }

  /** How the connection gets on with its host. */
  async health(): Promise<HostHealth> {
    return summarizeHealth(this.#statuses.state, this.#store.withGivenUp(GIVEN_UP_LISTED), STATUS_RULES);
  }

  /** What became of the statuses of a commit. */
  async statuses(repoId: number, sha: string): Promise<StatusView[]> {
    return this.#statuses.onEachRef(repoId, sha).flatMap(statusViews);
  }

  /** What a person may do here, by what they may do at the host; null where they may not write there. */
  async readRole(fullName: string, login: string): Promise<{ role: Role | null } | { away: string }> {
    const connection = await this.#read();
    if (connection.state !== "open" || !connection.app) return { role: null };
    try {
      return { role: await roleAtGithub(connection.apiUrl, await connection.token(), fullName, login) };
    } catch (error) {
      if (error instanceof HostProblem) return { away: error.message };
      throw error;
    }
  }

  /** Reads the connection anew the next time, and tries what waits for it: its token may have been changed. */
  async connectionChanged(): Promise<void> {
    this.#connection.forget();
    await this.#read().catch((error) => log.warn("host.connection_unread", { ...connectionIn(this.#name), error }));
    this.#statuses.resume(Date.now());
    await this.#schedule();
  }

  /**
   * Keeps a delivery that its host proved to have sent, and takes it once the service can. Asks nobody.
   * @returns whether there is room for it
   */
  async keepDelivery(delivery: KeptDelivery): Promise<boolean> {
    const { name } = this.ctx.id;
    if (name) this.#store.setMeta("name", name);
    const isKept = this.#kept.keep(delivery, Date.now());
    if (isKept) await this.#schedule();
    return isKept;
  }

  /** Remembers a delivery and what came of it. */
  async noteDelivery(note: DeliveryNote): Promise<void> {
    const isFirst = this.#store.noteDelivery(note);
    const waits = this.#kept.nextAt !== null;
    if (waits) this.#kept.hurry(Date.now());
    if (this.#isApp) this.#missed.stir(Date.now());
    if (this.#isApp || waits) await this.#schedule();
    if (!isFirst) return;
    // A delivery may be noted after the connection was deleted: nobody would delete what it leaves here.
    await this.#meet();
    await this.#setAlarm(Date.now() + LOOK_MS);
  }

  async #setAlarm(at: number): Promise<void> {
    if (this.#alarmAt !== null && this.#alarmAt <= at) return;
    this.#alarmAt = at;
    await this.ctx.storage.setAlarm(at);
  }

  /** The last deliveries, the newest first: those that wait before those that were taken. */
  async deliveries(limit: number): Promise<DeliveryNote[]> {
    return [...this.#kept.notes(limit), ...this.#store.deliveries(limit)].slice(0, limit);
  }

  /** Deletes everything that this object holds. */
  async destroy(): Promise<void> {
    this.#loaded?.drop();
    this.#loaded = null;
    this.#connection.forget();
    this.#kept.forget();
    await this.ctx.storage.deleteAlarm();
    this.#alarmAt = null;
    await this.#store.deleteAll();
  }
}
