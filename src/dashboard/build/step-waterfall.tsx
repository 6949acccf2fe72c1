import type { Agent } from "../../protocol/agent.ts";
import type { Step } from "../../protocol/build.ts";
import { formatDuration, ordinal } from "../parts/format.ts";
import { StateIcon, wordOf } from "../parts/state.tsx";
import { Elapsed } from "../parts/time.tsx";
import { parseTime, timeAxis, type UsualTimes } from "../parts/time-axis.ts";
import type { Child } from "../shell/markup.ts";
import { type Segment, Waterfall, WaterfallBar } from "./waterfall.tsx";

const nthTry = (number: number): string => `the ${ordinal(number)} try`;

/** Describes the tries of a step that was retried. The text appears after the step's name. */
export const triesInWords = (status: Step["status"], tries: number): string => {
  if (status === "succeeded") return `passed on ${nthTry(tries)}`;
  if (status === "failed") return `failed ${tries} times`;
  return status === "running" ? nthTry(tries) : `stopped on ${nthTry(tries)}`;
};

/** The times of a job in its waterfall. */
interface RunTimes {
  steps: Step[];
  queuedAt: string | null;
  startedAt: string | null;
  finishedAt: string | null;
}

const SHORT_MS = 1000;

/**
 * Returns the agent's work before the first step, when the agent fetches the commit. Returns null if this work has not
 * begun.
 */
const checkoutStep = ({ steps, startedAt, finishedAt }: RunTimes): Step | null => {
  if (startedAt === null) return null;
  const began = steps.find((step) => step.startedAt !== null)?.startedAt ?? null;
  const end = began ?? finishedAt;
  const status = end === null ? "running" : began === null ? "failed" : "succeeded";
  return { id: null, name: "Checkout", status, exitCode: null, startedAt, finishedAt: end, logOffset: null };
};

/**
 * Returns the agent's work after the last step, when the agent stores the results. Returns null if this work took a
 * negligible time.
 */
const closingStep = ({ steps, finishedAt }: RunTimes): Step | null => {
  const ends = steps.flatMap((step) => parseTime(step.finishedAt) ?? []);
  const last = Math.max(...ends);
  if (ends.length === 0 || finishedAt === null || Date.parse(finishedAt) - last < SHORT_MS) return null;
  const startedAt = new Date(last).toISOString();
  const [name, status] = ["After the steps", "succeeded"] as const;
  return { id: null, name, status, exitCode: null, startedAt, finishedAt, logOffset: null };
};

const toSegments = ({ startedAt, finishedAt, status }: Step): Segment[] =>
  startedAt === null ? [] : [{ from: Date.parse(startedAt), to: parseTime(finishedAt), state: status }];

interface RowProps {
  id: string;
  step: Step;
  /** The address of the page with the log; empty if this page has the log. */
  logPage: string;
  now: Date;
  children: Child;
}

const StepRow = ({ id, step, logPage, now, children }: RowProps) => (
  <li
    id={id}
    class="fall-row"
    data-offset={step.logOffset ?? undefined}
    data-state={step.status}
    data-name={step.name}
    data-started-at={step.startedAt ?? undefined}
    data-row
  >
    <a href={`${logPage}#${id}`} class="step what">
      <StateIcon state={step.status} />
      <span class="sr">{wordOf(step.status)} </span>
      <bdi class="step-name">{step.name}</bdi>
      {children}
      <span class="fall-end">
        {step.tries !== undefined && <span class="tries">{triesInWords(step.status, step.tries)}</span>}
        {step.exitCode !== null && step.exitCode !== 0 && <span class="exit">exit {step.exitCode}</span>}
        {step.startedAt && <Elapsed from={step.startedAt} to={step.finishedAt} now={now} />}
      </span>
    </a>
  </li>
);

interface StepWaterfallProps {
  run: RunTimes;
  now: Date;
  usual: UsualTimes;
  summary: Child;
  logPage: string;
}

/** Shows a job's steps, or nothing before an agent has begun. */
export const StepWaterfall = ({ run, now, usual, summary, logPage }: StepWaterfallProps) => {
  const checkout = checkoutStep(run);
  if (!checkout && run.steps.length === 0) return null;
  const [startedAt, finishedAt] = [parseTime(run.startedAt), parseTime(run.finishedAt)];
  const axis = timeAxis({
    queuedAt: parseTime(run.queuedAt) ?? startedAt ?? now.getTime(),
    startedAt,
    until: finishedAt ?? now.getTime(),
    isLive: finishedAt === null,
    usual: usual.whole,
  });
  const rows = [...(checkout ? [{ id: "before", step: checkout }] : [])];
  rows.push(...run.steps.map((step, index) => ({ id: `step-${index}`, step })));
  const closing = closingStep(run);
  if (closing) rows.push({ id: "after", step: closing });
  const waitedFrom = (id: string) => (id === "before" ? parseTime(run.queuedAt) : null);
  return (
    <Waterfall
      title="Timeline"
      summary={summary}
      axis={axis}
      noun="step"
      times={rows.map(({ id, step }) => ({
        name: step.name,
        word: wordOf(step.status),
        waited: id === "before" && startedAt !== null ? startedAt - (parseTime(run.queuedAt) ?? startedAt) : null,
        took:
          step.startedAt === null ? null : (parseTime(step.finishedAt) ?? now.getTime()) - Date.parse(step.startedAt),
        usual: usual.parts.get(step.name),
      }))}
    >
      <ol class="fall-list" id="steps" aria-label="Steps">
        {rows.map(({ id, step }) => (
          <StepRow id={id} step={step} logPage={logPage} now={now}>
            <WaterfallBar
              axis={axis}
              now={now.getTime()}
              waitedFrom={waitedFrom(id)}
              segments={toSegments(step)}
              usual={usual.parts.get(step.name)}
            />
          </StepRow>
        ))}
      </ol>
    </Waterfall>
  );
};

interface TimesInWordsProps {
  run: Omit<RunTimes, "steps">;
  /** The steps; absent if the build shows jobs instead. */
  steps?: RunTimes["steps"];
  /** The duration of the last green run, in milliseconds. */
  usual: number | null;
  agent: Pick<Agent, "name"> | null;
  now: Date;
}

/** Shows the checkout while it runs, then the times in words: `4m 31s, usually 4m 10s`. */
export const TimesInWords = ({ run, steps, usual, agent, now }: TimesInWordsProps) => {
  const { startedAt, finishedAt, queuedAt } = run;
  if (startedAt === null) return null;
  if (finishedAt === null && steps?.every((step) => step.startedAt === null)) {
    return (
      <>
        <bdi>{agent?.name ?? "An agent"}</bdi> is checking out, <Elapsed from={startedAt} to={null} now={now} />
      </>
    );
  }
  const waited = queuedAt === null ? 0 : Date.parse(startedAt) - Date.parse(queuedAt);
  return (
    <>
      <Elapsed from={startedAt} to={finishedAt} now={now} />
      {usual !== null && `, usually ${formatDuration(usual)}`}
      {waited >= 1000 && ` · waited ${formatDuration(waited)}`}
      {waited >= 1000 && agent && (
        <>
          {" "}
          for <bdi>{agent.name}</bdi>
        </>
      )}
    </>
  );
};
