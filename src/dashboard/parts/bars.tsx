import type { BuildOfHistory } from "../../protocol/pipeline-history.ts";
import { formatDuration } from "./format.ts";
import { wordOf } from "./state.tsx";

/** The measures of a bar chart in pixels. Words are above the bars, and failed builds have a foot below. */
const CHART = { bars: 30, step: 10, bar: 7, words: 16, height: 32, least: 4, foot: 4 };
const WORDS_CHARACTERS = 46;

/** A build as a bar. The height of an active build is its duration until now. */
export interface Bar extends Pick<BuildOfHistory, "id" | "number" | "isFlaky" | "subject"> {
  state: BuildOfHistory["status"] | "asking";
  tookMs: number;
}

export const toBar = ({ status, startedAt, finishedAt, ...build }: BuildOfHistory): Bar => ({
  ...build,
  state: status,
  tookMs: startedAt === null ? 0 : Date.parse(finishedAt) - Date.parse(startedAt),
});

const barInWords = ({ number, state, isFlaky, tookMs, subject }: Bar): string => {
  const flaky = isFlaky ? ", flaky" : "";
  const words = `#${number} ${wordOf(state)}${flaky} ${formatDuration(tookMs)} ${subject ?? ""}`.trim();
  return words.length > WORDS_CHARACTERS ? `${words.slice(0, WORDS_CHARACTERS - 1)}…` : words;
};

interface BarProps {
  bar: Bar;
  x: number;
  height: number;
  /**
   * Whether the Tab key stops at this bar. The key stops at one bar of the chart. From there, the arrow keys move on.
   */
  isStop: boolean;
}

const BarLink = ({ bar, x, height, isStop }: BarProps) => {
  const base = CHART.words + CHART.height;
  const { bar: width } = CHART;
  return (
    <a href={`/app/builds/${bar.id}`} class={`bar is-${bar.state}`} tabindex={isStop ? undefined : -1}>
      <rect x={x - 1} y={CHART.words} width={CHART.step} height={CHART.height + CHART.foot} class="reach" />
      <rect x={x} y={base - height} width={width} height={height} rx="1.5" />
      {bar.isFlaky && <rect x={x} y={base - height} width={width} height="5" rx="1.5" class="cap" />}
      {bar.state === "failed" && <rect x={x} y={base + 2} width={width} height="2" />}
      <text y="11">{barInWords(bar)}</text>
    </a>
  );
};

/**
 * Shows a pipeline's last builds, the oldest first. The height of a bar is the duration, and its colour is the result.
 */
export const Bars = ({ bars, label }: { bars: Bar[]; label: string }) => {
  const newestBars = bars.slice(-CHART.bars);
  const longest = Math.max(1, ...newestBars.map(({ tookMs }) => tookMs));
  const barHeight = ({ tookMs }: Bar) => CHART.least + Math.round(((CHART.height - CHART.least) * tookMs) / longest);
  const first = CHART.bars - newestBars.length;
  const [width, height] = [CHART.bars * CHART.step, CHART.words + CHART.height + CHART.foot];
  return (
    <svg class="bars" viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-label={label}>
      {newestBars.map((bar, at) => (
        <BarLink
          bar={bar}
          x={(first + at) * CHART.step + 1}
          height={barHeight(bar)}
          isStop={at === newestBars.length - 1}
        />
      ))}
    </svg>
  );
};
