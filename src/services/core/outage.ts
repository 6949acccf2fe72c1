import { MigrationsMissing } from "../../db/session.ts";
import { isOfOtherRelease } from "../../domain/durable-objects.ts";
import { Refusal } from "./refusal.ts";

const RETRY_SECONDS = 5;
/**
 * Seconds until a retry if migrations are missing. This is longer than for other outages, because an operator must
 * apply them.
 */
const MIGRATIONS_RETRY_SECONDS = 30;

/**
 * Returns the refusal for a failure of D1 or a Durable Object. Returns null for all other errors, which are the
 * service's defects.
 */
export const outageRefusal = (error: unknown): Refusal | null => {
  if (lacksMigrations(error)) {
    return new Refusal(
      "unavailable",
      "The database is waiting for its migrations. Nothing was partly saved: repeat the request.",
      {
        retryAfterSeconds: MIGRATIONS_RETRY_SECONDS,
        cause: error,
      },
    );
  }
  return isAway(error) ? away(error) : null;
};

const away = (cause: unknown): Refusal =>
  new Refusal("unavailable", "A part of the service is unavailable. Nothing was partly saved: repeat the request.", {
    retryAfterSeconds: RETRY_SECONDS,
    cause,
  });

/**
 * Waits for the archive's answer and returns it. The archive's errors have no distinguishing mark, so each of them
 * counts as an outage.
 * @throws Refusal unavailable
 */
export const reaching = async <T>(answer: Promise<T>): Promise<T> => {
  try {
    return await answer;
  } catch (error) {
    throw away(error);
  }
};

/** Reports whether the code needs tables or columns that the database lacks. */
const lacksMigrations = (error: unknown): boolean =>
  error instanceof MigrationsMissing ||
  (error instanceof Error &&
    (/no such table|no such column|has no column named/.test(error.message) || lacksMigrations(error.cause)));

/** Checks the properties that Workers set when a Durable Object did not answer, and D1's mark in error messages. */
const isAway = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const signs = ["overloaded", "retryable", "remote", "durableObjectReset"];
  const isSigned = signs.some((sign) => (error as unknown as Record<string, unknown>)[sign] === true);
  if (isOfOtherRelease(error)) return true;
  return isSigned || error.message.includes("D1_ERROR") || isAway(error.cause);
};
