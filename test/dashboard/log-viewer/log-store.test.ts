import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LogStore } from "../../../src/dashboard/log-viewer/client/log-store.ts";
import { storeOf } from "./filled-log-store.ts";

const text = fc
  .array(fc.constantFrom("one", "a longer line", "", "€", "\n", "\n\n"), { maxLength: 60 })
  .map((parts) => parts.join(""));

const shown = (store: LogStore) => ({
  lines: Array.from({ length: store.count }, (_, line) => [store.start(line), store.line(line)]),
  ...{ size: store.size, base: store.base },
});

describe("a log that arrives end first", () => {
  it("equals a log that arrived whole, wherever it was cut", () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 4 }), (whole, places) => {
        const bytes = new TextEncoder().encode(whole);
        const cuts = [...new Set(places.map((place) => Math.min(place, bytes.length)))].sort((a, b) => b - a);
        const [last = 0, ...others] = cuts;
        const store = new LogStore(last);
        store.append(bytes.subarray(last));
        for (const from of [...others, 0]) {
          const before = shown(store).lines.slice(1);
          const earlier = new LogStore(from);
          earlier.append(bytes.subarray(from, store.base));
          const added = store.prepend(earlier);
          expect(shown(store).lines.slice(1 + added)).toEqual(before);
        }
        expect(shown(store)).toEqual(shown(storeOf(whole)));
      }),
    );
  });

  it("addresses lines by their place in the whole log, and rejects parts that do not fit", () => {
    const store = new LogStore(100);
    store.append(new TextEncoder().encode("first\nsecond\n"));
    expect([store.lineAt(0), store.lineAt(100), store.lineAt(106), store.start(1), store.size]).toEqual([
      0, 0, 1, 106, 113,
    ]);
    expect(() => store.prepend(new LogStore(0))).toThrow();
  });
});
