/** What a change makes different, old and new, by field: for the audit. What is left out, or stays equal, is not in it. */
export type Diff = Record<string, { from: unknown; to: unknown }>;

export const diff = <T extends object>(before: T, change: Partial<T>): Diff =>
  Object.fromEntries(
    Object.entries(change)
      .map(([field, to]) => [field, { from: before[field as keyof T], to }] as const)
      .filter(([, { from, to }]) => to !== undefined && JSON.stringify(from) !== JSON.stringify(to)),
  );

/** The record with its differences taken over. */
export const applyDiff = <T extends object>(before: T, changes: Diff): T => ({
  ...before,
  ...Object.fromEntries(Object.entries(changes).map(([field, { to }]) => [field, to])),
});
