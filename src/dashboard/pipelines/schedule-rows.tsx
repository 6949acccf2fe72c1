import type { Schedule } from "../../protocol/schedule.ts";
import { StateWord } from "../parts/state.tsx";
import { RelativeTime } from "../parts/time.tsx";

const LastRun = ({ schedule, now }: { schedule: Schedule; now: Date }) => {
  const { lastAt, lastBuildId, lastStatus } = schedule;
  if (lastAt === null) return <span class="hint">has not run yet</span>;
  const at = <RelativeTime at={lastAt} now={now} />;
  if (lastBuildId === null) return <span class="hint">last run {at}</span>;
  return (
    <>
      <a href={`/app/builds/${lastBuildId}`} class="delivered" aria-label={`Last build of ${schedule.name}`}>
        {lastStatus ? <StateWord state={lastStatus} /> : "last build"}
      </a>{" "}
      <span class="hint">{at}</span>
    </>
  );
};

interface ScheduleRowsProps {
  schedules: Schedule[];
  now: Date;
  /** The name of a schedule's pipeline; null where the page is about one pipeline. */
  pipelineOf: ((schedule: Schedule) => string) | null;
}

/** Schedules, one a row: its name, its times, when it comes next, and what became of its last run. */
export const ScheduleRows = ({ schedules, now, pipelineOf }: ScheduleRowsProps) => (
  <ol class="rows">
    {schedules.map((schedule) => (
      <li class="row schedule-row" data-row>
        <a href={`/app/schedules/${schedule.id}`} class="what">
          {schedule.name}
          {pipelineOf && (
            <span class="pipeline">
              {" "}
              of <bdi>{pipelineOf(schedule)}</bdi>
            </span>
          )}
        </a>
        <span class="ref">
          <code class="sha">{schedule.cron}</code>
          <span class="branch">{schedule.timeZone}</span>
        </span>
        <span class="next-run">
          {schedule.nextAt ? (
            <>
              next <RelativeTime at={schedule.nextAt} now={now} />
            </>
          ) : (
            <span class="label">off</span>
          )}
          {schedule.source === "file" && <span class="label">in its file</span>}
        </span>
        <span class="last-run">
          <LastRun schedule={schedule} now={now} />
        </span>
      </li>
    ))}
  </ol>
);
