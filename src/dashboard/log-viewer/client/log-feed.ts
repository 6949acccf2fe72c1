import { KIB } from "../../../protocol/units.ts";
import { createButton, createElement } from "../../shell/client/elements.ts";
import { LogStore } from "./log-store.ts";
import type { LogView } from "./log-view.ts";

/** Milliseconds between tries. They double after each try that brought no bytes. */
const RETRY_MS = { first: 500, most: 15_000 };
/** Milliseconds of silence after which a connection counts as broken. The service sends something every 15 s. */
const SILENCE_MS = 45_000;

/** The bytes to read first, at the end of a log. They fill some screens, and take a third of a second at 400 kbit/s. */
const END_BYTES = 16 * KIB;
/** The status for a range that the log does not have, because the log is empty. */
const NO_SUCH_BYTES = 416;

interface FeedListener {
  /** Called when the store has more bytes, or was cleared for a new attempt. */
  grew(): void;
  /**
   * Called when the store has the end of the log, as it was stored when the page opened. `pace` is in bytes per second.
   */
  caughtUp(pace: number): void;
  /** Called when the log has ended and the store has the log's end. */
  ended(): void;
}

interface ServerSentEvent {
  name: string;
  id: string;
  data: string;
}

/** Reads a response's server-sent events. Calls `onData` for every chunk, even without an event. */
async function* eventsOf(body: ReadableStream<Uint8Array>, onData: () => void): AsyncGenerator<ServerSentEvent> {
  let pending = "";
  for await (const text of body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    onData();
    const blocks = (pending + text).split("\n\n");
    pending = blocks.pop() ?? "";
    for (const block of blocks) {
      const event: ServerSentEvent = { name: "message", id: "", data: "" };
      for (const line of block.split("\n")) {
        if (line.startsWith("event: ")) event.name = line.slice(7);
        else if (line.startsWith("id: ")) event.id = line.slice(4);
        else if (line.startsWith("data: ")) event.data = line.slice(6);
      }
      if (event.data) yield event;
    }
  }
}

/**
 * Reads the end of the stored log as bytes, which is faster than events. The page fetches earlier bytes on demand.
 * @returns the bytes per second that followed the first ones; 0 if no bytes followed
 */
const readStored = async (
  source: string,
  attempt: number,
  store: LogStore,
  listener: FeedListener,
): Promise<number> => {
  const response = await fetch(`${source}?attempt=${attempt}`, { headers: { Range: `bytes=-${END_BYTES}` } });
  if (response.status === 404 || response.status === NO_SUCH_BYTES) return 0;
  if (!response.ok || !response.body) throw new Error(`${response.status}`);
  const [, first = "0"] = /^bytes (\d+)-/.exec(response.headers.get("Content-Range") ?? "") ?? [];
  store.clear(Number(first));
  let began: { at: number; size: number } | null = null;
  for await (const bytes of response.body) {
    store.append(bytes);
    listener.grew();
    began ??= { at: performance.now(), size: store.size };
  }
  const milliseconds = performance.now() - (began?.at ?? 0);
  return began ? (1000 * (store.size - began.size)) / Math.max(1, milliseconds) : 0;
};

/** Follows the log until it ends or the connection breaks. Returns whether the log ended. */
const follow = async (
  source: string,
  place: { id: string },
  store: LogStore,
  listener: FeedListener,
): Promise<boolean> => {
  const headers = { Accept: "text/event-stream", "Last-Event-ID": place.id };
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const onData = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  try {
    const response = await fetch(source, { headers, signal: silence.signal });
    if (!response.ok || !response.body) throw new Error(`${response.status}`);
    const encoder = new TextEncoder();
    for await (const { name, id, data } of eventsOf(response.body, onData)) {
      if (name === "end") return true;
      if (name === "attempt") store.clear();
      else store.append(encoder.encode(JSON.parse(data)));
      place.id = id;
      listener.grew();
    }
    return false;
  } finally {
    clearTimeout(timer);
  }
};

/** Fills the store with the log and follows the log. After a broken connection, continues from the same place. */
export const feedLog = async (
  source: string,
  attempt: number,
  isLive: boolean,
  store: LogStore,
  listener: FeedListener,
) => {
  const place = { id: `${attempt}:0` };
  let wait = RETRY_MS.first;
  let hasStored = false;
  for (;;) {
    const before = store.size;
    try {
      if (!hasStored) {
        store.clear();
        const pace = await readStored(source, attempt, store, listener);
        place.id = `${attempt}:${store.size}`;
        hasStored = true;
        listener.caughtUp(pace);
      }
      if (!isLive || (await follow(source, place, store, listener))) break;
    } catch {
      // The connection broke. The next try requests the bytes that follow the stored ones.
    }
    wait = store.size > before ? RETRY_MS.first : Math.min(RETRY_MS.most, wait * 2);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
  listener.ended();
};

const MEGABYTE = 1_000_000;
/** The bytes per second from which a connection fetches the whole log without a person's request. */
const QUICK = 2 * MEGABYTE;
/** The length up to which any connection fetches the rest of the log without a person's request. */
const SHORT = 4 * MEGABYTE;
/** The bytes to read when a person scrolls up to the first line. The number doubles each time. */
const FIRST_PART = 512 * KIB;
/** The distance from the top, in pixels, at which scrolling loads earlier lines. */
const NEAR_TOP = 400;

const megabytes = (bytes: number): string => (bytes / MEGABYTE).toFixed(bytes < 10 * MEGABYTE ? 1 : 0);

/** Loads the lines before the first loaded line on demand, and shows `12 of 50 MB loaded, earlier lines above`. */
export class EarlierLines {
  readonly note = createElement("span", "log-earlier");
  readonly #words = createElement("span", "");
  readonly #store: LogStore;
  readonly #view: LogView;
  readonly #address: string;
  readonly #added: () => void;
  #next = FIRST_PART;
  #reading: Promise<void> | null = null;
  #read = 0;

  /** @param added The class calls it after it added lines before the first line. */
  constructor(store: LogStore, view: LogView, address: string, added: () => void) {
    this.#store = store;
    this.#view = view;
    this.#address = address;
    this.#added = added;
    this.note.setAttribute("role", "status");
    this.note.append(
      this.#words,
      createButton("quiet", "Load all", () => void this.readAll()),
    );
    view.scroller.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    this.#tell();
  }

  get areMissing(): boolean {
    return this.#store.base > 0;
  }

  /**
   * Starts, with the pace at which the log's end arrived, in bytes per second. If the connection is quick or the rest
   * is short, reads the rest immediately.
   */
  begin(pace: number): void {
    this.#tell();
    if (pace >= QUICK || this.#store.base <= SHORT) void this.readAll();
  }

  async readAll(): Promise<void> {
    while (this.areMissing && (await this.#readFrom(0)));
  }

  #onScroll(): void {
    if (!this.areMissing || this.#reading || this.#view.scroller.scrollTop > NEAR_TOP) return;
    void this.#readFrom(Math.max(0, this.#store.base - this.#next));
    this.#next *= 2;
  }

  /** Reads from this byte up to the first stored byte. Returns whether the read succeeded. */
  async #readFrom(from: number): Promise<boolean> {
    const before = this.#reading;
    if (before) {
      await before;
      return true;
    }
    const generation = this.#store.generation;
    const earlier = new LogStore(from);
    const reading = this.#fetch(earlier, this.#store.base);
    this.#reading = reading.catch(() => {});
    try {
      await reading;
    } catch {
      return false;
    } finally {
      this.#reading = null;
      this.#read = 0;
    }
    if (generation === this.#store.generation && earlier.size === this.#store.base)
      this.#view.keepPlace(this.#store.prepend(earlier));
    this.#tell();
    this.#added();
    return true;
  }

  async #fetch(earlier: LogStore, to: number): Promise<void> {
    const range = `bytes=${earlier.base}-${to - 1}`;
    const response = await fetch(this.#address, { headers: { Range: range } });
    if (!response.ok || !response.body) throw new Error(`${response.status}`);
    for await (const bytes of response.body) {
      earlier.append(bytes);
      this.#read += bytes.length;
      this.#tell();
    }
  }

  #tell(): void {
    this.note.hidden = !this.areMissing;
    const { base, size } = this.#store;
    const text = `${megabytes(size - base + this.#read)} of ${megabytes(size)} MB loaded, earlier lines above`;
    if (this.#words.textContent !== text) this.#words.textContent = text;
  }
}
