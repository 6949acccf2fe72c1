import { deleteArtifacts } from "../../archive/artifacts.ts";
import { dayOf } from "../../archive/keys.ts";
import { deleteLogs } from "../../archive/logs.ts";
import { deleteRecord } from "../../archive/records.ts";
import { deleteTests } from "../../archive/tests.ts";
import { eraseBuild, forgetFailedLine } from "../../db/projection.ts";
import { buildLogName, calling, gitHostName } from "../../domain/durable-objects.ts";
import { type HostReport, toldState } from "../../githosts/core/host-report.ts";
import { log } from "../../log.ts";
import { mayCarryOut } from "../../queue/commands/delete.ts";
import type { DecisionContext } from "../../queue/state/decision.ts";
import type { Deletion } from "../../queue/state/facts.ts";
import { type Delivered, nothingDelivered } from "../../queue/state/outbox.ts";
import { isSealed } from "../../queue/state/stored-bytes.ts";
import type { GitHostObject } from "../host/git-host.ts";
import type { BuildLog } from "../log/build-log.ts";
import type { Machine } from "./reconciler.ts";
import type { PoolStorage } from "./storage.ts";
import type { LogOutboxEntry } from "./tables.ts";

/** Counts consecutive failures by name. */
export class FailureCounts {
  readonly #counts = new Map<string, number>();

  /** @returns the number of failures so far */
  add(name: string): number {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return count;
  }

  forget(name: string): void {
    this.#counts.delete(name);
  }

  /** Sorts items by their number of failures, the fewest first. Otherwise keeps the order. */
  fewestFirst<T>(all: T[], nameOf: (one: T) => string): T[] {
    const failureCount = (one: T) => this.#counts.get(nameOf(one)) ?? 0;
    return all.sort((one, other) => failureCount(one) - failureCount(other));
  }
}

/** Logs that one attempt closes at most. */
const CLOSES = 100;
/** Logs to close among which one attempt chooses. */
const WINDOW = 1_000;
/** Failures after which the close of a log becomes a dead letter. */
const MAX_FAILURES = 30;
/** Builds that one attempt reports to git hosts at most. */
const REPORTS = 200;
/** Deletions that one attempt carries out at most. */
const DELETIONS = 50;

/** The pool's state machine, together with its disk. */
export interface CourierMachine extends Machine {
  readonly context: DecisionContext;
  readonly storage: PoolStorage;
}

/** Everything that an attempt on a channel needs: the pool, its surroundings, and earlier failures. */
export interface Ways {
  env: Env;
  db: D1Database;
  machine: CourierMachine;
  failures: FailureCounts;
}

const openLog = ({ env, machine }: Ways, jobId: string): DurableObjectStub<BuildLog> =>
  calling((env.BUILD_LOG as DurableObjectNamespace<BuildLog>).getByName(buildLogName(machine.orgId, jobId)));

/** A log to close, from a row of the outbox or of an ended build. */
interface PendingClose {
  name: string;
  /** The entry of the outbox; null if no agent wrote to the log. */
  entry: LogOutboxEntry | null;
  markClosed(result: Delivered): void;
}

/** Closes the logs of leases that are over. A close that fails does not delay the others. */
export const closeLogs = async (ways: Ways): Promise<Delivered> => {
  const { failures, machine } = ways;
  const { storage, state } = machine;
  const result = nothingDelivered();
  const rows = storage.logEntries(WINDOW).map(({ seq, entry }): PendingClose => {
    return { name: String(seq), entry, markClosed: ({ entries }) => entries.push(seq) };
  });
  const ids = failures.fewestFirst([...state.outbox.logs.due.keys()].slice(0, WINDOW), (id) => id).slice(0, CLOSES);
  const ended = ids.map((buildId): PendingClose => {
    const markClosed = ({ builds }: Delivered) => builds.push({ buildId });
    return { name: buildId, entry: storage.endClose(buildId), markClosed };
  });
  const chosen = failures.fewestFirst([...rows, ...ended], ({ name }) => name).slice(0, CLOSES);
  await Promise.all(chosen.map((one) => closeLog(ways, one, result)));
  return result;
};

const closeLog = async (ways: Ways, { name, entry, markClosed }: PendingClose, result: Delivered): Promise<void> => {
  const { orgId, storage } = ways.machine;
  try {
    if (entry) {
      const { jobId, fence, endedAt } = entry;
      const ended = endedAt === undefined ? null : { day: dayOf(endedAt), orgId, jobId };
      await openLog(ways, jobId).close({ fence, ended });
    }
  } catch (error) {
    if (ways.failures.add(name) < MAX_FAILURES) {
      result.failed = true;
      log.error("pool.log_close_failed", { orgId, jobId: entry!.jobId, error });
      return;
    }
    storage.deadLetters.add({ kind: "close", ...entry! }, error instanceof Error ? error.message : "unknown");
  }
  ways.failures.forget(name);
  markClosed(result);
};

/**
 * Reports builds to the objects of git hosts. Callers can repeat the call. An unavailable git host does not delay
 * others.
 */
export const tellHosts = async (ways: Ways): Promise<Delivered> => {
  const { state, storage } = ways.machine;
  const result = nothingDelivered();
  const ids = ways.failures.fewestFirst([...state.outbox.hosts.due.keys()], (id) => id).slice(0, REPORTS);
  const reports = ids.flatMap((buildId) => {
    const report = storage.hostReport(buildId);
    if (!report) result.builds.push({ buildId, state: null });
    return report ?? [];
  });
  const byConnection = Map.groupBy(reports, ({ connectionId }) => connectionId);
  await Promise.all([...byConnection].map(([id, ofHost]) => tellHost(ways, id, ofHost, result)));
  return result;
};

const tellHost = async (
  { env, machine, failures }: Ways,
  connectionId: string,
  reports: HostReport[],
  result: Delivered,
): Promise<void> => {
  const name = gitHostName(machine.orgId, connectionId);
  try {
    const host = (env.GIT_HOST as DurableObjectNamespace<GitHostObject>).getByName(name);
    const { hearsPhases } = await calling(host).report(reports);
    for (const report of reports) {
      const { buildId, version } = report;
      failures.forget(buildId);
      result.builds.push({ buildId, state: toldState(report, hearsPhases), version });
    }
  } catch (error) {
    for (const { buildId } of reports) failures.add(buildId);
    result.failed = true;
    log.error("pool.host_report_failed", { orgId: machine.orgId, connectionId, error });
  }
};

/**
 * Carries out the oldest deletions: in the log, in the archive, then in D1. The pool can repeat each deletion, and a
 * deletion that fails does not delay the others.
 */
export const carryOutDeletions = async (ways: Ways): Promise<Delivered> => {
  const { state, storage } = ways.machine;
  const pending = storage.pendingDeletions(DELETIONS);
  const dueDeletions = pending.filter((deletion) => mayCarryOut(state, deletion));
  const result = nothingDelivered(dueDeletions.length < pending.length);
  const carryOut = async (deletion: Deletion): Promise<void> => {
    const { buildId, at } = deletion;
    try {
      await erase(ways, deletion);
      result.builds.push({ buildId, version: at });
    } catch (error) {
      result.failed = true;
      log.error("pool.deletion_failed", { orgId: ways.machine.orgId, buildId, error });
    }
  };
  await Promise.all(dueDeletions.map(carryOut));
  return result;
};

const erase = async (ways: Ways, deletion: Deletion): Promise<void> => {
  const { buildId, deleted, finishedAt, jobs = [], artifacts = [], tests = [] } = deletion;
  const { db, env, machine } = ways;
  const { orgId, storage } = machine;
  const archive = env.ARCHIVE;
  for (const log of [{ id: buildId, finishedAt }, ...jobs]) {
    await openLog(ways, log.id).remove();
    await deleteLogs(archive, { day: dayOf(log.finishedAt), orgId, jobId: log.id });
  }
  if (deleted === "log") {
    await forgetFailedLine(db, orgId, buildId).run();
    return;
  }
  const isOver = isSealed(finishedAt, Date.now());
  for (const { jobId, day } of artifacts) {
    const bytes = await deleteArtifacts(archive, { jobId, day, orgId });
    if (isOver) storage.stored.free(`${jobId} ${day}`, day, bytes);
  }
  for (const place of tests) await deleteTests(archive, { ...place, orgId });
  await deleteRecord(archive, { orgId, id: buildId, finishedAt: new Date(finishedAt).toISOString() });
  const jobIds = jobs.map(({ id }) => id);
  await db.batch(eraseBuild(db, orgId, buildId, jobIds));
};
