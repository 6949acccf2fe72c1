import type { Build } from "../../protocol/build.ts";
import type { PipelineHistory, WeekOfBuilds } from "../../protocol/pipeline-history.ts";
import { formatDuration } from "../parts/format-time.ts";
import { ShortName } from "../parts/short-name.tsx";
import { StateIcon, wordOf } from "../parts/state.tsx";
import { type Bar, Bars, barOf } from "./bars.tsx";

const NONE = "–";
/** From so much on, being slower than the week before is told in colour. */
const SLOWER_PERCENT = 10;

const seconds = (value: number | undefined): string => (value === undefined ? NONE : formatDuration(value * 1000));

/** The share of succeeded builds among those that succeeded or failed, in percent; null without any. */
export const greenPercent = ({ succeeded, failed }: Pick<WeekOfBuilds, "succeeded" | "failed">): number | null =>
  succeeded + failed === 0 ? null : Math.floor((100 * succeeded) / (succeeded + failed));

const trendOf = ({ week, weekBefore }: PipelineHistory): number | null =>
  week.tookSeconds && weekBefore.tookSeconds
    ? Math.round((week.tookSeconds.p50 / weekBefore.tookSeconds.p50 - 1) * 100)
    : null;

const signed = (percent: number): string => `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${Math.abs(percent)} %`;

/** A build that has not ended, at the end of the bars of its pipeline. */
const liveBarOf = ({ id, number, status, subject, startedAt, waitsFor }: Build, now: Date): Bar => ({
  ...{ id, number, subject, isFlaky: false },
  state: waitsFor.length > 0 ? "asking" : status,
  tookMs: startedAt === null ? 0 : now.getTime() - Date.parse(startedAt),
});

/** The default branch; undefined where only tags were built. */
const defaultBranchOf = ({ builds }: PipelineHistory): string | undefined =>
  builds.find(({ tag }) => tag === null)?.branch;

/** What a row stands for: the default branch, red or green whatever a retry of an older commit did; else a tag. */
const lastOf = (history: PipelineHistory) => {
  const { builds, failingSince } = history;
  const verdict = failingSince ? "failed" : "succeeded";
  const ofBranch = builds.filter(({ branch }) => branch === defaultBranchOf(history));
  return (
    ofBranch.find(({ status }) => status === verdict) ??
    ofBranch[0] ??
    builds.find(({ status }) => status !== "canceled") ??
    builds[0]
  );
};

interface RowProps {
  history: PipelineHistory;
  /** Its builds of the default branch and of tags that have not ended, the newest first. */
  live: Build[];
  now: Date;
}

const Row = ({ history, live: [newest, ...older], now }: RowProps) => {
  const { pipelineId, name, repository, builds, week } = history;
  const last = lastOf(history);
  // A tag under way does not hide how the branch stands.
  const live = [newest, ...older].find((build) => build?.tag === null || last?.tag !== null);
  const bars = [...builds.map(barOf).reverse(), ...(newest ? [liveBarOf(newest, now)] : [])];
  const state = live ? liveBarOf(live, now).state : (last?.status ?? "queued");
  const green = greenPercent(week);
  const trend = trendOf(history);
  const [, ofOwner = repository] = repository.split("/");
  return (
    <tr id={`p-${pipelineId}`} data-row>
      <td class="of-state">
        <StateIcon state={state} />
        <span class="sr">{wordOf(state)}</span>
      </td>
      <th scope="row">
        <a href={`/app/pipelines/${pipelineId}`} class="what" title={`${repository} / ${name}`}>
          <span class="repository">
            <ShortName name={ofOwner} />
          </span>
          <span class="hint">/</span> <bdi class="pipeline-name">{name}</bdi>
        </a>
      </th>
      <td class="of-branch">
        <bdi>{live ? (live.tag ?? live.branch) : (last?.tag ?? last?.branch)}</bdi>
      </td>
      <td class="of-bars">
        <Bars bars={bars} label={`Last builds of ${repository} / ${name}`} />
      </td>
      <td class={`number-cell${history.isRed ? " tone-bad" : ""}`}>{green === null ? NONE : `${green} %`}</td>
      <td class="number-cell">{seconds(week.tookSeconds?.p50)}</td>
      <td class="number-cell hint">{seconds(week.waitedSeconds?.p90)}</td>
      <td class={`number-cell ${trend !== null && trend >= SLOWER_PERCENT ? "tone-flaky" : "hint"}`}>
        {trend === null ? NONE : signed(trend)}
      </td>
    </tr>
  );
};

/** Whether a build is one that the history of its pipeline will have: of the default branch, or of a tag. */
const isOf = (history: PipelineHistory, build: Build): boolean =>
  build.pipelineId === history.pipelineId &&
  build.pull === null &&
  (build.tag !== null || build.branch === defaultBranchOf(history));

/** Pipelines with the state of their default branch, their last builds and what their week was like. */
export const PipelineTable = ({ histories, live, now }: { histories: PipelineHistory[]; live: Build[]; now: Date }) => (
  <table class="overview-table rows">
    <thead>
      <tr>
        <th scope="col">
          <span class="sr">State</span>
        </th>
        <th scope="col">Pipeline</th>
        <th scope="col">Branch</th>
        <th scope="col">Last 30 builds, newest right</th>
        <th scope="col" class="number-cell" title="Share of the builds of this week that succeeded">
          Green
        </th>
        <th scope="col" class="number-cell" title="Half of the builds of this week took at most so long">
          Half took
        </th>
        <th scope="col" class="number-cell" title="Nine in ten builds of this week waited at most so long for an agent">
          Waited
        </th>
        <th scope="col" class="number-cell" title="What half of the builds took, against the week before">
          Trend
        </th>
      </tr>
    </thead>
    <tbody>
      {histories.map((history) => (
        <Row history={history} live={live.filter((build) => isOf(history, build))} now={now} />
      ))}
    </tbody>
  </table>
);
