/** The fields that a change actually changes, with their old and new values, for the audit. */
type Diff = Record<string, { from: unknown; to: unknown }>;

export const diff = <T extends object>(before: T, change: Partial<T>): Diff =>
  Object.fromEntries(
    Object.entries(change)
      .map(([field, to]) => [field, { from: before[field as keyof T], to }] as const)
      .filter(([, { from, to }]) => to !== undefined && JSON.stringify(from) !== JSON.stringify(to)),
  );

/** Returns a copy of the record with the changes applied. */
export const applyDiff = <T extends object>(before: T, changes: Diff): T => ({
  ...before,
  ...Object.fromEntries(Object.entries(changes).map(([field, { to }]) => [field, to])),
});
