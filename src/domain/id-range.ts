/**
 * Returns the lowest id (UUID version 7, RFC 9562 section 5.7) of a millisecond since 1970. Ids begin with their time,
 * so a range of times is a range of ids, and times need no index.
 */
export const firstIdAt = (at: number): string => {
  const time = Math.min(Math.max(0, Math.floor(at)), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
};

/** Returns the millisecond since 1970 in an id of version 7. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
