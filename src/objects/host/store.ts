import { connectionIn } from "../../domain/durable-objects.ts";
import { boundedNote, type DeliveryNote } from "../../githosts/core/delivery-note.ts";
import {
  AT_EASE,
  type Commit,
  type CommitName,
  commitKey,
  linesOf,
  type Pace,
  shaAndRef,
} from "../../githosts/core/statuses.ts";
import type { DeliveryMemory } from "../../githosts/github/missed-deliveries.ts";
import type { HostKind } from "../../protocol/connection.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { DAY_MS } from "../../protocol/units.ts";

/** Milliseconds for which the store keeps a commit after its end, or after its last change if it has not ended. */
const KEEP_MS = 7 * DAY_MS;
const ABANDONED_MS = 30 * DAY_MS;
/** Milliseconds for which the store remembers a failed delivery: a day longer than GitHub can redeliver it. */
const MISSED_MS = 4 * DAY_MS;
const MOST_COMMITS = 10_000;

/**
 * If a commit has a ref, `sha` ends with a space and the ref. `open` is 1 until a commit has ended. `given_up` is the
 * time when the service last gave up one of the commit's statuses.
 */
const TABLES = `
CREATE TABLE IF NOT EXISTS commits (repo INTEGER, sha TEXT, open INTEGER NOT NULL, at INTEGER NOT NULL, given_up INTEGER,
  facts TEXT NOT NULL, PRIMARY KEY (repo, sha)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS delivery (slot INTEGER PRIMARY KEY, seq INTEGER NOT NULL, facts TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS kept (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, generation INTEGER NOT NULL, facts TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS missed (guid TEXT PRIMARY KEY, at INTEGER NOT NULL, facts TEXT NOT NULL) WITHOUT ROWID;
`;

/** Facts of the object that have no table of their own. */
interface Meta {
  /** The object's own name, which an alarm does not know. */
  name: string;
  /** The service's last known origin. */
  origin: string;
  pace: Pace;
  /** The connection's kind at its last read; absent before release 0.12.0. */
  kind: HostKind;
  /** Whether the connection uses a GitHub App, which creates check runs. */
  isApp: boolean;
  /** When to check for missed deliveries next. */
  lookAt: number;
}

/** The rows of one connection's object. Each commit has one row, because its statuses change together. */
export class HostStore {
  readonly #storage: DurableObjectStorage;
  #isLaid = false;
  /** Whether the object deleted everything and has written nothing since. */
  #isBare = false;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** The database with its tables. */
  get sql(): SqlStorage {
    if (!this.#isLaid) this.#storage.sql.exec(TABLES);
    this.#isLaid = true;
    this.#isBare = false;
    return this.#storage.sql;
  }

  /** The connection's owner. The object's first call stores the name. */
  get owner(): { orgId: string; connectionId: string } {
    return connectionIn(this.meta("name") ?? "");
  }

  /** Stores either all of these commits or none of them. */
  save(commits: Iterable<Commit>, now: number): void {
    this.#storage.transactionSync(() => {
      for (const commit of commits) this.#saveOne(commit, now);
    });
  }

  #saveOne(commit: Commit, now: number): void {
    const { repoId, endedAt } = commit;
    const open = endedAt === null ? 1 : 0;
    const givenUp = linesOf(commit).map((line) => line.givenUp?.at ?? 0);
    this.sql.exec(
      "INSERT OR REPLACE INTO commits VALUES (?, ?, ?, ?, ?, ?)",
      repoId,
      shaAndRef(commit),
      open,
      endedAt ?? now,
      Math.max(...givenUp) || null,
      JSON.stringify(commit),
    );
  }

  commit(name: CommitName): Commit | undefined {
    const query = "SELECT facts FROM commits WHERE repo = ? AND sha = ?";
    const [row] = this.sql.exec(query, name.repoId, shaAndRef(name));
    return row && JSON.parse(String(row.facts));
  }

  /** Finds the commit on each of its refs. */
  onEachRef(repoId: number, sha: string): Commit[] {
    // `!` is the character after the space.
    const query = "SELECT facts FROM commits WHERE repo = ? AND sha >= ? AND sha < ?";
    return [...this.sql.exec(query, repoId, sha, `${sha}!`)].map(({ facts }) => JSON.parse(String(facts)));
  }

  /**
   * Returns the commits that have not ended. Scans the table, because an index would write one more row for each
   * commit.
   */
  open(): Map<string, Commit> {
    const rows = this.sql.exec("SELECT facts FROM commits WHERE open = 1");
    const commits = [...rows].map(({ facts }): Commit => JSON.parse(String(facts)));
    return new Map(commits.map((commit) => [commitKey(commit), commit]));
  }

  /**
   * Returns commits that have not ended, without the newest ones that together have this many lines. Reads the commits
   * one by one, because they may be large.
   */
  *openBeyond(mostLines: number): Iterable<Commit> {
    const lines = "sum(json_array_length(facts, '$.own') + 1) OVER (ORDER BY at DESC, repo, sha)";
    const rows = this.sql.exec(
      `SELECT repo, sha FROM (SELECT repo, sha, ${lines} AS lines FROM commits WHERE open = 1) WHERE lines > ?`,
      mostLines,
    );
    for (const { repo, sha } of [...rows]) {
      const { facts } = this.sql.exec("SELECT facts FROM commits WHERE repo = ? AND sha = ?", repo, sha).one();
      yield JSON.parse(String(facts));
    }
  }

  /** Lists the commits with a status that the service gave up, the newest first. */
  withGivenUp(limit: number): Commit[] {
    const query = "SELECT facts FROM commits WHERE given_up IS NOT NULL ORDER BY given_up DESC LIMIT ?";
    return [...this.sql.exec(query, limit)].map(({ facts }) => JSON.parse(String(facts)));
  }

  /** Deletes expired commits, and the oldest commits above the limit. Deletes ended commits first. */
  tidy(now: number): void {
    const sql = this.sql;
    sql.exec("DELETE FROM commits WHERE at < CASE open WHEN 0 THEN ? ELSE ? END", now - KEEP_MS, now - ABANDONED_MS);
    const count = Number(sql.exec("SELECT count(*) AS count FROM commits").one().count);
    if (count <= MOST_COMMITS) return;
    sql.exec(
      "DELETE FROM commits WHERE (repo, sha) IN (SELECT repo, sha FROM commits ORDER BY open, at LIMIT ?)",
      count - MOST_COMMITS,
    );
  }

  meta<K extends keyof Meta>(key: K): Meta[K] | null {
    if (this.#isBare) return null;
    const [row] = this.sql.exec("SELECT value FROM meta WHERE key = ?", key);
    return row ? JSON.parse(String(row.value)) : null;
  }

  /** Stores a value if it has changed. */
  setMeta<K extends keyof Meta>(key: K, value: Meta[K]): void {
    const text = JSON.stringify(value);
    this.sql.exec(
      "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value WHERE value <> excluded.value",
      key,
      text,
    );
  }

  deleteMeta(key: keyof Meta): void {
    this.sql.exec("DELETE FROM meta WHERE key = ?", key);
  }

  pace(): Pace {
    return this.meta("pace") ?? AT_EASE;
  }

  /** Writes one row: the newest note replaces the oldest. @returns whether it is the first note */
  noteDelivery(note: DeliveryNote): boolean {
    const [row] = this.sql.exec(
      `INSERT INTO delivery SELECT (last + 1) % ?, last + 1, ? FROM (SELECT coalesce(max(seq), 0) AS last FROM delivery)
       WHERE true ON CONFLICT DO UPDATE SET seq = excluded.seq, facts = excluded.facts RETURNING seq`,
      LIMITS.deliveries,
      JSON.stringify(boundedNote(note)),
    );
    return row?.seq === 1;
  }

  deliveries(limit: number): DeliveryNote[] {
    const rows = this.sql.exec("SELECT facts FROM delivery ORDER BY seq DESC LIMIT ?", limit);
    return [...rows].map(({ facts }) => JSON.parse(String(facts)));
  }

  /** Returns the remembered failed deliveries, by id. */
  missed(now: number): Map<string, DeliveryMemory> {
    this.sql.exec("DELETE FROM missed WHERE at < ?", now - MISSED_MS);
    const rows = [...this.sql.exec("SELECT facts FROM missed")];
    return new Map(rows.map(({ facts }) => JSON.parse(String(facts))).map((one: DeliveryMemory) => [one.guid, one]));
  }

  rememberMissed(missed: DeliveryMemory): void {
    this.sql.exec(
      "INSERT OR REPLACE INTO missed VALUES (?, ?, ?)",
      missed.guid,
      missed.firstAt,
      JSON.stringify(missed),
    );
  }

  /** Forgets all statuses, and keeps the list of deliveries. */
  dropCommits(): void {
    this.sql.exec("DELETE FROM commits");
  }

  /** Deletes everything. Later writes recreate the tables. */
  async deleteAll(): Promise<void> {
    this.#isLaid = false;
    this.#isBare = true;
    await this.#storage.deleteAll();
  }
}
