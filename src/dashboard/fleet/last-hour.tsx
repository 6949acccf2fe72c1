import { StateWord } from "../components/state.tsx";
import { Elapsed, RelativeTime } from "../components/time.tsx";
import { placeOn } from "../waterfall/time-axis.ts";
import { HourBar, type HourProps, hourUntil, runsInWords } from "./hour-bar.tsx";
import { addressOfRun, nameOfRun } from "./run-name.ts";

const LISTED = 20;

const iso = (at: number): string => new Date(at).toISOString();

const Ticks = ({ now }: { now: Date }) => {
  const axis = hourUntil(now);
  return (
    <svg class="hour-ticks" width="100%" height="18" aria-hidden="true">
      {axis.ticks.map((tick) => (
        <text x={placeOn(axis, tick)} y="12">
          {tick === axis.to ? "now" : `${(axis.to - tick) / 60_000} min`}
        </text>
      ))}
    </svg>
  );
};

/** What an agent ran in the last hour: as a bar, and the newest of it as a table. */
export const LastHour = ({ runs, pipelines, now }: HourProps) => (
  <section class="last-hour" aria-labelledby="last-hour">
    <div class="section-head">
      <h2 id="last-hour">The last hour</h2>
      <p class="hint">{runsInWords(runs) || "It ran nothing."}</p>
    </div>
    <div class="hour">
      <Ticks now={now} />
      <div class="hour-line">
        <HourBar runs={runs} pipelines={pipelines} now={now} />
      </div>
    </div>
    {runs.length > 0 && (
      <div class="wide">
        <table id="runs">
          <thead>
            <tr>
              <th scope="col">{runs.every(({ jobId }) => jobId === null) ? "Build" : "Build or job"}</th>
              <th scope="col">State</th>
              <th scope="col">Began</th>
              <th scope="col">Took</th>
            </tr>
          </thead>
          <tbody>
            {runs.slice(0, LISTED).map((run) => (
              <tr id={`run-${run.jobId ?? run.buildId}`}>
                <th scope="row">
                  <a href={addressOfRun(run)}>
                    <bdi>{nameOfRun(run, pipelines)}</bdi>
                  </a>
                </th>
                <td>
                  <StateWord state={run.status} />
                </td>
                <td>
                  <RelativeTime at={iso(run.startedAt)} now={now} />
                </td>
                <td>
                  <Elapsed
                    from={iso(run.startedAt)}
                    to={run.finishedAt === null ? null : iso(run.finishedAt)}
                    now={now}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )}
    {runs.length > LISTED && <p class="hint more">The newest {LISTED} of them.</p>}
  </section>
);
