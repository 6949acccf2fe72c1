/*
 * The service's log. Each line is one JSON object, which the platform stores and searches by its fields. The table in
 * docs/operations.md lists every event. Programs that print for people use `console` directly.
 */

type Level = "info" | "warn" | "error";

/** Fields of a line in addition to its level and event. Never a secret, and never a caller's text. */
interface Fields {
  /** Null or empty if the line concerns no organization. */
  orgId: string | null;
  error?: unknown;
  [name: string]: unknown;
}

const errorText = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? `${error.name}: ${error.message}`) : String(error);

const write = (level: Level, event: string, { orgId, error, ...fields }: Fields): void => {
  const text = error === undefined ? undefined : errorText(error);
  const line = JSON.stringify({ level, event, orgId: orgId || null, ...fields, error: text });
  console[level === "info" ? "log" : level](line);
};

/** Writes a line about an event, whose name is `noun.what_happened`. */
export const log = {
  /** An event in a healthy service. */
  info: (event: string, fields: Fields): void => write("info", event, fields),
  /** A failure that needs no action: the service retries it, or only shows less. */
  warn: (event: string, fields: Fields): void => write("warn", event, fields),
  /** A failure that somebody should investigate if it does not stop by itself. */
  error: (event: string, fields: Fields): void => write("error", event, fields),
};
