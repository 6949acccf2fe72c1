import type { AuditOutboxEntry } from "./tables.ts";

/**
 * Entries of the audit that wait in the rows of their builds and jobs, which are written in the same transaction anyway:
 * a queue of their own would cost two rows for each entry. One that was delivered is forgotten here, and stays in its row
 * until that is written again; should the pool be loaded before, it is delivered once more, which D1 ignores.
 */
export class RowAudits {
  /** By sequence numbers below 0, which tell them from those of the queue. The oldest first. */
  readonly #entries = new Map<number, { rowId: string; entry: AuditOutboxEntry }>();
  readonly #ofRow = new Map<string, Set<number>>();
  #last = 0;

  get size(): number {
    return this.#entries.size;
  }

  add(rowId: string, entry: AuditOutboxEntry): void {
    const seq = --this.#last;
    this.#entries.set(seq, { rowId, entry });
    this.#ofRow.set(rowId, (this.#ofRow.get(rowId) ?? new Set()).add(seq));
  }

  /** What the row has of them. */
  load(rowId: string, text: string): void {
    for (const entry of JSON.parse(text) as AuditOutboxEntry[]) this.add(rowId, entry);
  }

  /** What the row has to have. */
  textOf(rowId: string): string | null {
    const seqs = this.#ofRow.get(rowId);
    return seqs ? JSON.stringify([...seqs].map((seq) => this.#entries.get(seq)!.entry)) : null;
  }

  /** The oldest ones. */
  list(limit: number): { seq: number; entry: AuditOutboxEntry }[] {
    return this.#entries
      .entries()
      .take(limit)
      .map(([seq, { entry }]) => ({ seq, entry }))
      .toArray();
  }

  remove(seq: number): void {
    const { rowId } = this.#entries.get(seq) ?? {};
    if (rowId === undefined) return;
    this.#entries.delete(seq);
    const seqs = this.#ofRow.get(rowId)!;
    seqs.delete(seq);
    if (seqs.size === 0) this.#ofRow.delete(rowId);
  }

  /** Those of a row that nobody reads any more. */
  take(rowId: string): AuditOutboxEntry[] {
    const seqs = [...(this.#ofRow.get(rowId) ?? [])];
    const entries = seqs.map((seq) => this.#entries.get(seq)!.entry);
    for (const seq of seqs) this.remove(seq);
    return entries;
  }
}
