/** What a change makes different, old and new, by field: for the audit. What is left out, or stays equal, is not in it. */
export type Differences = Record<string, { from: unknown; to: unknown }>;

export const differences = <T extends object>(before: T, change: Partial<T>): Differences =>
  Object.fromEntries(
    Object.entries(change)
      .map(([field, to]) => [field, { from: before[field as keyof T], to }] as const)
      .filter(([, { from, to }]) => to !== undefined && JSON.stringify(from) !== JSON.stringify(to)),
  );

/** The record with its differences taken over. */
export const changed = <T extends object>(before: T, changes: Differences): T => ({
  ...before,
  ...Object.fromEntries(Object.entries(changes).map(([field, { to }]) => [field, to])),
});
