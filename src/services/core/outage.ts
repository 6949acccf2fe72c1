import { MigrationsMissing } from "../../db/session.ts";
import { isOfOtherRelease } from "../../domain/durable-objects.ts";
import { Refusal } from "./refusal.ts";

const RETRY_SECONDS = 5;
/** Longer: an operator applies the migrations. */
const MIGRATIONS_RETRY_SECONDS = 30;

/** The refusal where D1 or a Durable Object failed; null for every other error, which is a defect of the service. */
export const outageRefusal = (error: unknown): Refusal | null => {
  if (lacksMigrations(error)) {
    return new Refusal("unavailable", "The database awaits its migrations. Nothing is half-done: repeat the request.", {
      retryAfterSeconds: MIGRATIONS_RETRY_SECONDS,
      cause: error,
    });
  }
  return isAway(error) ? away(error) : null;
};

const away = (cause: unknown): Refusal =>
  new Refusal("unavailable", "A part of the service does not answer. Nothing is half-done: repeat the request.", {
    retryAfterSeconds: RETRY_SECONDS,
    cause,
  });

/** What the archive answers. Its errors bear no mark: each one counts as an outage. @throws Refusal unavailable */
export const reaching = async <T>(answer: Promise<T>): Promise<T> => {
  try {
    return await answer;
  } catch (error) {
    throw away(error);
  }
};

/** Whether the code needs tables or columns that the database does not have yet. */
const lacksMigrations = (error: unknown): boolean =>
  error instanceof MigrationsMissing ||
  (error instanceof Error &&
    (/no such table|no such column|has no column named/.test(error.message) || lacksMigrations(error.cause)));

/** Properties that Workers set on an error of a Durable Object that did not answer, and D1's mark in its messages. */
const isAway = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const signs = ["overloaded", "retryable", "remote", "durableObjectReset"];
  const isSigned = signs.some((sign) => (error as unknown as Record<string, unknown>)[sign] === true);
  if (isOfOtherRelease(error)) return true;
  return isSigned || error.message.includes("D1_ERROR") || isAway(error.cause);
};
