import { expect, it } from "vitest";
import { StateIcon, wordOf } from "../../../src/dashboard/parts/state.tsx";

const STATES = [
  ...(["queued", "waiting", "asking", "assigned", "running", "canceling", "canceled"] as const),
  ...(["dropped", "skipped", "succeeded", "failed"] as const),
];

/** States that share a shape, although a person sees them together: `canceling` becomes `canceled`. */
const ALIKE = [["canceling", "canceled"]];

it("each state has its own shape, for people who do not see its color", () => {
  const words = new Map<string, Set<string>>();
  for (const state of STATES) {
    const shape = StateIcon({ state }).html.replace(/ class="[^"]*"/g, "");
    words.set(shape, (words.get(shape) ?? new Set()).add(wordOf(state)));
  }
  const shared = [...words.values()].map((each) => [...each]).filter(({ length }) => length > 1);
  expect(shared).toEqual(ALIKE);
});
