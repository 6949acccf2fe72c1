import { LogStore } from "../../../src/dashboard/log-viewer/client/log-store.ts";

/** Creates a log store and appends the text in pieces of so many bytes. */
export const storeOf = (text: string, piece = Number.POSITIVE_INFINITY): LogStore => {
  const store = new LogStore();
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += piece) store.append(bytes.subarray(at, Math.min(bytes.length, at + piece)));
  return store;
};
