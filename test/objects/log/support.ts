import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { BuildLog } from "../../../src/objects/log/build-log.ts";
import type { LogResult } from "../../../src/objects/log/turns.ts";
import { followed } from "../../../src/services/builds/log-follow.ts";
import { eventStream } from "../../../src/web/log.ts";

export type Log = DurableObjectStub<BuildLog>;

export const A = { fence: 100, tokenHash: "a".repeat(64) };
export const B = { fence: 200, tokenHash: "b".repeat(64) };
export const SECRET = "hunter2-hunter2";

let builds = 0;
export const newLog = (): Log => env.BUILD_LOG.getByName(`org/build-${++builds}-${crypto.randomUUID()}`) as Log;

export const alarmOf = (log: Log) => runInDurableObject(log, (_, { storage }) => storage.getAlarm());

export const bytes = (text: string) => new TextEncoder().encode(text);

export const value = <T>(result: LogResult<T>): T => {
  if (!result.ok) throw new Error(`${result.refusal.kind}: ${result.refusal.detail}`);
  return result.value;
};
export const kind = (result: LogResult<unknown>) => (result.ok ? "ok" : result.refusal.kind);

export const opened = async (secrets = [SECRET], lease = A, attempt = 1, log = newLog()): Promise<Log> => {
  value((await log.open({ ...lease, attempt, secrets })) as LogResult<null>);
  return log;
};

export const append = (log: Log, offset: number, text: string, final = false, lease = A) =>
  log.append({ ...lease, offset, bytes: bytes(text), final }) as Promise<
    LogResult<{ next: number; leaked: boolean; followed: boolean }>
  >;

export const stored = async (
  log: Log,
  range: { attempt?: number; start?: number; end?: number; suffix?: number } = {},
): Promise<string> => new Response((value((await log.read(range)) as never) as { body: ReadableStream }).body).text();

export const follow = async (
  log: Log,
  query = "from=0",
  token = "one",
): Promise<ReadableStreamDefaultReader<string>> => {
  const headers = { Upgrade: "websocket", "X-Token-Hash": token };
  const { webSocket } = await log.fetch(`https://log/follow?${query}`, { headers });
  return eventStream(followed(webSocket!)).pipeThrough(new TextDecoderStream()).getReader();
};

/** Reads events until `until` accepts them, or to the end. */
export const events = async (
  reader: ReadableStreamDefaultReader<string>,
  until: (all: string) => boolean = () => false,
) => {
  let all = "";
  while (!until(all)) {
    const { done, value: event } = await reader.read();
    if (done) break;
    all += event;
  }
  return all;
};

/** Returns the text of all events. */
export const textOf = (all: string) =>
  all
    .split("\n\n")
    .filter((event) => event !== "" && !event.startsWith("event:"))
    .map((event) => JSON.parse(event.slice(event.indexOf("data: ") + 6)))
    .join("");
