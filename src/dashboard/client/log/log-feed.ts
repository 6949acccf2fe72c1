import type { LogStore } from "./log-store.ts";

const RETRY_MS = { first: 500, most: 15_000 };
/** The service is never silent for longer than a third of this while a connection lives. */
const SILENT_MS = 45_000;

interface Told {
  /** More bytes are in the store, or it began anew. */
  grew(): void;
  /** What was stored at the beginning is in the store. */
  caughtUp(): void;
  ended(): void;
}

interface Event {
  name: string;
  id: string;
  data: string;
}

/** Server-sent events of a response as they arrive; `heard` is told of every sign of life. */
async function* eventsOf(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<Event> {
  let pending = "";
  for await (const text of body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    heard();
    const blocks = (pending + text).split("\n\n");
    pending = blocks.pop() ?? "";
    for (const block of blocks) {
      const event: Event = { name: "message", id: "", data: "" };
      for (const line of block.split("\n")) {
        if (line.startsWith("event: ")) event.name = line.slice(7);
        else if (line.startsWith("id: ")) event.id = line.slice(4);
        else if (line.startsWith("data: ")) event.data = line.slice(6);
      }
      if (event.data) yield event;
    }
  }
}

/** What is stored already, as bytes. */
const readStored = async (source: string, attempt: number, store: LogStore, told: Told): Promise<void> => {
  const response = await fetch(`${source}?attempt=${attempt}`);
  if (response.status === 404) return;
  if (!response.ok || !response.body) throw new Error(`${response.status}`);
  for await (const bytes of response.body) {
    store.append(bytes);
    told.grew();
  }
};

/** Follows to the end, or as long as the connection holds. Gives whether the end was reached. */
const follow = async (source: string, place: { id: string }, store: LogStore, told: Told): Promise<boolean> => {
  const headers = { Accept: "text/event-stream", "Last-Event-ID": place.id };
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENT_MS);
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENT_MS);
  };
  try {
    const response = await fetch(source, { headers, signal: silence.signal });
    if (!response.ok || !response.body) throw new Error(`${response.status}`);
    const encoder = new TextEncoder();
    for await (const { name, id, data } of eventsOf(response.body, heard)) {
      if (name === "end") return true;
      if (name === "attempt") store.clear();
      else store.append(encoder.encode(JSON.parse(data)));
      place.id = id;
      told.grew();
    }
    return false;
  } finally {
    clearTimeout(timer);
  }
};

/** Fills the store from the service, and goes on where it was when the connection breaks. */
export const feed = async (source: string, attempt: number, isLive: boolean, store: LogStore, told: Told) => {
  const place = { id: `${attempt}:0` };
  let wait = RETRY_MS.first;
  let hasStored = false;
  for (;;) {
    const before = store.size;
    try {
      if (!hasStored) {
        store.clear();
        await readStored(source, attempt, store, told);
        place.id = `${attempt}:${store.size}`;
        hasStored = true;
        told.caughtUp();
      }
      if (!isLive || (await follow(source, place, store, told))) break;
    } catch {
      // The connection broke: what is stored here stays, and the next try asks for what comes after it.
    }
    wait = store.size > before ? RETRY_MS.first : Math.min(RETRY_MS.most, wait * 2);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
  told.ended();
};
