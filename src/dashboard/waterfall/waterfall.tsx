import type { Child } from "hono/jsx";
import { AxisLines, AxisTicks } from "./axis-lines.tsx";
import type { TimeAxis } from "./time-axis.ts";
import { type TimeOfRow, TimesTable } from "./times-table.tsx";

/** From so many rows on, a field filters them. */
const FILTERED_FROM = 13;

interface WaterfallProps {
  title: Child;
  /** What the times say in words, at the right. */
  told: Child;
  axis: TimeAxis;
  noun: "step" | "job";
  times: TimeOfRow[];
  /** The rows, in an element of theirs. */
  children: Child;
}

/** Names of at most so many characters leave the rest of their column to the bars. */
const SHORT_NAME = 16;

/** Where the time went: a row for each step or job on one axis of time. It is the log's table of contents too. */
export const Waterfall = ({ title, told, axis, noun, times, children }: WaterfallProps) => (
  <section class="waterfall" id="waterfall" aria-labelledby="waterfall-title">
    <div class="section-head">
      <h2 id="waterfall-title">{title}</h2>
      <p class="hint">{told}</p>
    </div>
    <div class={times.every(({ name }) => name.length <= SHORT_NAME) ? "fall is-short" : "fall"}>
      {times.length >= FILTERED_FROM && (
        <input
          type="search"
          id="fall-filter"
          class="fall-filter scripted"
          placeholder={`Filter the ${noun}s`}
          aria-label={`Filter the ${noun}s`}
        />
      )}
      <div class="fall-axis">
        <AxisTicks axis={axis} />
      </div>
      <div class="fall-rows">
        <div class="fall-behind">
          <AxisLines axis={axis} />
        </div>
        {children}
      </div>
    </div>
    <TimesTable noun={noun} times={times} />
  </section>
);
