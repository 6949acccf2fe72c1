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

/**
 * Milliseconds for which one alarm sends statuses. This is far below the 15 minutes that the platform allows an alarm.
 */
const ALARM_MS = 5 * MINUTE_MS;
/** Milliseconds that one alarm spends on waiting deliveries, and then on its statuses while more deliveries wait. */
const SHARE_MS = 30 * SECOND_MS;
/** Milliseconds until a failed alarm runs again. The object doubles them after each failure, up to ten minutes. */
const RETRY_MS = 30 * SECOND_MS;
const MOST_RETRY_MS = 10 * MINUTE_MS;
/** Milliseconds after the first delivery until the object checks whether its connection exists. */
const LOOK_MS = MINUTE_MS;
/** Commits with a status that the service gave up, in the list on the connection's page. */
const GIVEN_UP_LISTED = 20;

/**
 * Handles a delivery for the connection of this name. The services implement this type, and no object may import the
 * services.
 */
type TakeKept = (env: Env, name: string, delivery: KeptDelivery) => Promise<DeliveryNote | null>;

const appIn = (connection: ConnectionState) => (connection.state === "gone" ? null : connection.app);

/** Sends reports to the git host of one connection, and accepts deliveries from it. Each connection has one object. */
export class GitHostObject extends VersionedObject {
  readonly #store: HostStore;
  readonly #connection: HostConnection;
  readonly #missed: MissedDeliveries;
  readonly #kept: KeptDeliveries;
  readonly #takeKept: TakeKept;
  #loaded: HostStatuses | null = null;
  /** The alarm's time, as far as this object knows. */
  #alarmAt: number | null = null;
  #isTelling = false;
  /** Consecutive failed attempts to read the connection. */
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
   * Stores reports for the host. Callers can repeat the call and can call in any order: a build's newest report counts.
   * @returns whether the host also shows a build's progress
   */
  async report(reports: HostReport[]): Promise<{ hearsPhases: boolean }> {
    if (this.#connection.isSilent) return { hearsPhases: false };
    await this.#meet();
    this.#statuses.report(reports, this.#hearing, Date.now());
    await this.#schedule();
    return { hearsPhases: this.#isApp };
  }

  /** Stores which pipelines of a commit have no build. Callers can repeat the call. */
  async leaveOut(leftOut: LeftOut): Promise<void> {
    if (this.#connection.isSilent) return;
    await this.#meet();
    this.#statuses.leaveOut(leftOut, this.#hearing, Date.now());
    await this.#schedule();
  }

  /** The distinctions that the host makes. */
  get #hearing() {
    const kind = this.#store.meta("kind");
    return { hearsPhases: this.#isApp, hasRefs: kind !== null && HOSTS[kind].keepsRefsApart };
  }

  /** Whether the connection used an App when the object last read it. */
  get #isApp(): boolean {
    return this.#store.meta("isApp") ?? false;
  }

  /** Stores the object's name and reads its connection at its first call, because an alarm knows neither. */
  async #meet(): Promise<void> {
    const { name } = this.ctx.id;
    if (!name || this.#store.meta("kind") !== null) return;
    this.#store.setMeta("name", name);
    await this.#read().catch((error) => log.warn("host.connection_unread", { ...connectionIn(this.#name), error }));
  }

  /** Handles waiting deliveries, sends due statuses, and looks for missed deliveries. */
  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    // The platform gives up an alarm after six failures. A repeated alarm therefore sets the next one before its work.
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

  /** Whether the object can retry a waiting delivery now. */
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

  /** Looks for missed deliveries. Runs after the due statuses, because people wait for these statuses. */
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

  /** Sets the alarm if something is due earlier than it. A running alarm sets it at its own end. */
  async #schedule(): Promise<void> {
    if (this.#isTelling) return;
    const now = Date.now();
    const due = this.#loaded?.nextAt(now) ?? null;
    const dueAt = Math.min(...[due, this.#missed.lookAt].filter((at) => at !== null));
    const wait = this.#misreads === 0 ? 0 : Math.min(RETRY_MS * 2 ** (this.#misreads - 1), MOST_RETRY_MS);
    const next = Math.min(Math.max(dueAt, now + wait), this.#kept.nextAt ?? Number.POSITIVE_INFINITY);
    if (next !== Number.POSITIVE_INFINITY) await this.#setAlarm(next);
  }

  /** Returns a token of the App's installation, or the problem. @throws if the connection cannot be read */
  async installationToken(): Promise<TokenAnswer> {
    const connection = await this.#read();
    return toTokenAnswer(appIn(connection)?.token() ?? Promise.reject(notInstalled()));
  }

  /** Returns a token with which git reads one repository, or the problem. @throws if the connection cannot be read */
  async cloneToken(repoId: number, cloneUrl: string): Promise<TokenAnswer> {
    const connection = await this.#read();
    return toTokenAnswer(appIn(connection)?.cloneToken(repoId, cloneUrl) ?? Promise.reject(notInstalled()));
  }

  /** Returns the health of the connection to its host. */
  async health(): Promise<HostHealth> {
    return summarizeHealth(this.#statuses.state, this.#store.withGivenUp(GIVEN_UP_LISTED), STATUS_RULES);
  }

  /** Returns the results of a commit's statuses. */
  async statuses(repoId: number, sha: string): Promise<StatusView[]> {
    return this.#statuses.onEachRef(repoId, sha).flatMap(statusViews);
  }

  /** Derives a person's role here from their role at the host. Returns null if they cannot write there. */
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

  /** Rereads the connection, because a person may have changed its token, and retries everything that waits for it. */
  async connectionChanged(): Promise<void> {
    this.#connection.forget();
    await this.#read().catch((error) => log.warn("host.connection_unread", { ...connectionIn(this.#name), error }));
    this.#statuses.resume(Date.now());
    await this.#schedule();
  }

  /**
   * Stores a delivery that is proven to come from its host, and handles the delivery once the service can. Makes no
   * other call.
   * @returns whether there is room for the delivery
   */
  async keepDelivery(delivery: KeptDelivery): Promise<boolean> {
    const { name } = this.ctx.id;
    if (name) this.#store.setMeta("name", name);
    const isKept = this.#kept.keep(delivery, Date.now());
    if (isKept) await this.#schedule();
    return isKept;
  }

  /** Records a delivery and its result. */
  async noteDelivery(note: DeliveryNote): Promise<void> {
    const isFirst = this.#store.noteDelivery(note);
    const waits = this.#kept.nextAt !== null;
    if (waits) this.#kept.hurry(Date.now());
    if (this.#isApp) this.#missed.stir(Date.now());
    if (this.#isApp || waits) await this.#schedule();
    if (!isFirst) return;
    // The service may record a delivery after somebody deleted the connection. Nothing else would delete its rows.
    await this.#meet();
    await this.#setAlarm(Date.now() + LOOK_MS);
  }

  async #setAlarm(at: number): Promise<void> {
    if (this.#alarmAt !== null && this.#alarmAt <= at) return;
    this.#alarmAt = at;
    await this.ctx.storage.setAlarm(at);
  }

  /** Lists the last deliveries, the newest first. Waiting deliveries precede handled ones. */
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
