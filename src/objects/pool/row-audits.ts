import type { AuditOutboxEntry } from "./tables.ts";

/**
 * Audit entries that wait in the rows of their builds and jobs. The same transaction writes those rows anyway, whereas
 * a separate queue would cost two rows for each entry. After an entry's delivery, this class forgets the entry, which
 * stays in its row until the next write of the row. If the pool loads before that write, it redelivers the entry, and
 * D1 ignores the repeat.
 */
export class RowAudits {
  /**
   * The entries by sequence number, the oldest first. Their numbers are below 0, which distinguishes them from the
   * queue's entries.
   */
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

  /** Loads the entries of a row. */
  load(rowId: string, text: string): void {
    for (const entry of JSON.parse(text) as AuditOutboxEntry[]) this.add(rowId, entry);
  }

  /** Returns the text that the row must have: its entries as JSON. */
  textOf(rowId: string): string | null {
    const seqs = this.#ofRow.get(rowId);
    return seqs ? JSON.stringify([...seqs].map((seq) => this.#entries.get(seq)!.entry)) : null;
  }

  /** Returns the oldest entries. */
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

  /** Removes a row's entries, because nobody reads the row any more. @returns the entries */
  take(rowId: string): AuditOutboxEntry[] {
    const seqs = [...(this.#ofRow.get(rowId) ?? [])];
    const entries = seqs.map((seq) => this.#entries.get(seq)!.entry);
    for (const seq of seqs) this.remove(seq);
    return entries;
  }
}
