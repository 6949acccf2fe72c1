import type { Schedule } from "../../protocol/schedule.ts";
import { nullIfNotFound } from "../../services/core/refusal.ts";
import { getPipeline } from "../../services/repositories/pipelines.ts";
import { deleteSchedule, getSchedule, updateSchedule } from "../../services/schedules/schedules.ts";
import { CheckField, readFlag, VersionField } from "../parts/fields.tsx";
import { ProblemNotice, StackedForm } from "../parts/form-page.tsx";
import { StateWord } from "../parts/state.tsx";
import { RelativeTime } from "../parts/time.tsx";
import { confirmRemoval } from "../shell/confirm-removal.tsx";
import { formOn, hasRole, type Page, type PageRequest, type Pages } from "../shell/page-definition.ts";
import { byId, parseBody } from "../shell/verb-input.ts";
import { readSchedule, ScheduleFields } from "./schedules.tsx";

/**
 * Shows a time as a clock in the time zone shows it, such as `Mon 23 Nov 2026, 02:00 CET`. The title has the time in
 * UTC.
 */
const ZonedTime = ({ at, timeZone }: { at: string; timeZone: string }) => {
  const format = new Intl.DateTimeFormat("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone,
    timeZoneName: "short",
  });
  return (
    <time datetime={at} title={at.replace("T", " ").replace(/\.\d+Z$/, " UTC")}>
      {format.format(new Date(at))}
    </time>
  );
};

const Facts = ({ schedule, pipelineName }: { schedule: Schedule; pipelineName: string }) => (
  <p class="facts">
    <a href={`/app/pipelines/${schedule.pipelineId}`}>{pipelineName}</a>
    <code>{schedule.cron}</code>
    <span>{schedule.timeZone}</span>
    <span>{schedule.ref?.replace(/^refs\/(?:heads|tags)\//, "") ?? "default branch"}</span>
    {schedule.envKeys.length > 0 && <code>{schedule.envKeys.join(", ")}</code>}
    {!schedule.isActive && <span class="label">inactive</span>}
  </p>
);

const LastRun = ({ schedule, now }: { schedule: Schedule; now: Date }) => {
  const { lastAt, lastBuildId, lastStatus } = schedule;
  if (lastAt === null) return <p class="hint">No runs yet</p>;
  return (
    <p>
      {lastStatus && <StateWord state={lastStatus} />} <RelativeTime at={lastAt} now={now} />{" "}
      {lastBuildId && <a href={`/app/builds/${lastBuildId}`}>View build</a>}
    </p>
  );
};

const NextRuns = ({ schedule }: { schedule: Schedule }) =>
  schedule.next.length === 0 ? (
    <p class="hint">None: the schedule is inactive.</p>
  ) : (
    <ol class="next-times">
      {schedule.next.map((at) => (
        <li>
          <ZonedTime at={at} timeZone={schedule.timeZone} />
        </li>
      ))}
    </ol>
  );

interface SettingsProps {
  request: PageRequest;
  schedule: Schedule;
  version: number | null;
}

/**
 * Shows a schedule's settings. A file's schedule has only the switch here, because the file defines the other settings.
 */
const Settings = ({ request, schedule, version }: SettingsProps) => (
  <section>
    <h2>Settings</h2>
    {schedule.source === "file" && (
      <p>
        The pipeline file defines this schedule. Edit its times and variables there. Here you can only switch it on or
        off.
      </p>
    )}
    <StackedForm submit="Save">
      <VersionField version={version} />
      {schedule.source === "file" ? (
        <CheckField request={request} name="isActive" label="Active: starts builds" on={schedule.isActive} />
      ) : (
        <ScheduleFields request={request} schedule={schedule} />
      )}
    </StackedForm>
    {schedule.source === "api" && (
      <p>
        <a class="button danger" href={`/app/schedules/${schedule.id}/delete`}>
          Delete schedule
        </a>
      </p>
    )}
  </section>
);

const page: Page = {
  path: "/schedules/:id",
  role: "viewer",
  async show(context, request) {
    const { value: schedule, version } = await getSchedule.answer(context, byId(request.params.id));
    const pipeline = await nullIfNotFound(getPipeline.run(context, byId(schedule.pipelineId)));
    return {
      title: schedule.name,
      section: "schedules",
      body: (
        <>
          <ProblemNotice request={request} />
          <div class="head">
            <h1>{schedule.name}</h1>
          </div>
          <Facts schedule={schedule} pipelineName={pipeline?.name ?? "removed pipeline"} />
          <div class="column">
            {schedule.problem && (
              <p class="problem">
                The last run started no build. Millrace retries it every minute: <bdi>{schedule.problem}</bdi>
              </p>
            )}
            <section>
              <h2>Next runs</h2>
              <NextRuns schedule={schedule} />
            </section>
            <section>
              <h2>Last run</h2>
              <LastRun schedule={schedule} now={context.now} />
            </section>
            {hasRole(context, "maintainer") && <Settings request={request} schedule={schedule} version={version} />}
          </div>
        </>
      ),
    };
  },
};

const saveForm = formOn(page, updateSchedule, async (context, { params, form }) => {
  const id = byId(params.id);
  const isWhole = form.has("cron");
  const body = parseBody(updateSchedule.body, isWhole ? readSchedule(form) : { isActive: readFlag(form, "isActive") });
  await updateSchedule.run(context, { ...id, body });
  return { to: `/app/schedules/${params.id}`, notice: "saved" };
});

const remove = confirmRemoval({
  path: "/schedules/:id/delete",
  section: "schedules",
  access: { role: "maintainer" },
  verb: "delete",
  async question(context, id) {
    const { name, pipelineId } = await getSchedule.run(context, byId(id));
    const consequences = "It starts no more builds. Its existing builds are kept.";
    return { name, consequences, back: `/app/schedules/${id}`, next: `/app/pipelines/${pipelineId}` };
  },
  remove: (context, id) => deleteSchedule.run(context, byId(id)),
});

export const schedulePages: Pages = [page, ...remove, saveForm];
