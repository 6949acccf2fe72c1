/*
 * The service's log. Each line is one JSON object, which the platform stores and searches by its fields; the table in
 * docs/operations.md has every event. A program that prints for people uses `console` itself.
 */

type Level = "info" | "warn" | "error";

/** What a line says besides its level and its event: never a secret, nor a text that a caller sent. */
interface Fields {
  /** Null, or empty, where the line is about no organization. */
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
  /** What happens in a service that works. */
  info: (event: string, fields: Fields): void => write("info", event, fields),
  /** What failed and needs nobody: it is tried again, or only less is shown. */
  warn: (event: string, fields: Fields): void => write("warn", event, fields),
  /** What somebody should look at where it does not stop by itself. */
  error: (event: string, fields: Fields): void => write("error", event, fields),
};
