import type { Schedule } from "../../protocol/schedule.ts";
import { getPipeline, listPipelines } from "../../services/repositories/pipelines.ts";
import { listRepositories } from "../../services/repositories/repositories.ts";
import { createSchedule, listSchedules } from "../../services/schedules/schedules.ts";
import {
  CheckField,
  readFlag,
  readPairs,
  readRequiredText,
  readText,
  SecretField,
  TextField,
} from "../parts/fields.tsx";
import { FormPage } from "../parts/form-page.tsx";
import { filterByText, NoMatch, TextFilter } from "../parts/list-filter.tsx";
import { StateWord } from "../parts/state.tsx";
import { RelativeTime } from "../parts/time.tsx";
import { type FormState, formOn, type Page, type Pages } from "../shell/page-definition.ts";
import { byId, namesById, noInput, parseBody, withBody } from "../shell/verb-input.ts";

const ValuesHint = ({ keys }: { keys: string[] }) => (
  <>
    One NAME=value per line. The values are stored encrypted.{" "}
    {keys.length > 0 && (
      <>
        Current: <code>{keys.join(", ")}</code>. Leave the field empty to keep them.
      </>
    )}
  </>
);

/** Shows the fields of a schedule that is not in a file. */
export const ScheduleFields = ({ request, schedule }: { request: FormState; schedule?: Schedule }) => (
  <>
    <TextField request={request} name="name" label="Name" value={schedule?.name} required placeholder="nightly" />
    <TextField
      request={request}
      name="cron"
      label="Cron expression"
      value={schedule?.cron}
      required
      placeholder="0 2 * * MON-FRI"
      hint={
        <>
          Minute, hour, day of the month, month, day of the week. <code>0 2 * * *</code> runs every night at 02:00,{" "}
          <code>*/30 * * * *</code> every half hour.
        </>
      }
    />
    <TextField
      request={request}
      name="timeZone"
      label="Time zone"
      value={schedule?.timeZone ?? "UTC"}
      required
      hint="For example, Europe/Berlin"
    />
    <TextField
      request={request}
      name="ref"
      label="Branch or tag"
      value={schedule?.ref?.replace(/^refs\/heads\//, "")}
      hint="Leave the field empty for the default branch."
    />
    <SecretField
      request={request}
      name="envVariables"
      label="Build variables"
      placeholder="NAME=value"
      hint={<ValuesHint keys={schedule?.envKeys ?? []} />}
    />
    {schedule && schedule.envKeys.length > 0 && (
      <CheckField request={request} name="forgetsVariables" label="Delete the stored variables" on={false} />
    )}
    <CheckField request={request} name="isActive" label="Active: starts builds" on={schedule?.isActive ?? true} />
  </>
);

/** Returns the variables; undefined keeps the stored variables. */
const readVariables = (form: URLSearchParams): Record<string, string> | undefined => {
  if (readFlag(form, "forgetsVariables")) return {};
  const pairs = readPairs(form, "envVariables");
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
};

export const readSchedule = (form: URLSearchParams) => ({
  name: readRequiredText(form, "name"),
  cron: readRequiredText(form, "cron"),
  timeZone: readRequiredText(form, "timeZone"),
  ref: readText(form, "ref"),
  envVariables: readVariables(form),
  isActive: readFlag(form, "isActive"),
});

const LastRun = ({ schedule, now }: { schedule: Schedule; now: Date }) => {
  const { lastAt, lastBuildId, lastStatus } = schedule;
  if (lastAt === null) return <span class="hint">no runs yet</span>;
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
  /** Returns the name of a schedule's pipeline; null on a page about one pipeline. */
  pipelineName: ((schedule: Schedule) => string) | null;
}

/** Shows one schedule in a row: its name, its times, its next run, and the result of its last run. */
export const ScheduleRows = ({ schedules, now, pipelineName }: ScheduleRowsProps) => (
  <ol class="rows">
    {schedules.map((schedule) => (
      <li class="row schedule-row" data-row>
        <a href={`/app/schedules/${schedule.id}`} class="what">
          {schedule.name}
          {pipelineName && (
            <span class="pipeline">
              {" "}
              for <bdi>{pipelineName(schedule)}</bdi>
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
            <span class="label">inactive</span>
          )}
          {schedule.source === "file" && <span class="label">in the pipeline file</span>}
        </span>
        <span class="last-run">
          <LastRun schedule={schedule} now={now} />
        </span>
      </li>
    ))}
  </ol>
);

const listPage: Page = {
  path: "/schedules",
  role: "viewer",
  async show(context, { query }) {
    const [all, pipelines, repositories] = await Promise.all([
      listSchedules.run(context, noInput),
      listPipelines.run(context, noInput),
      listRepositories.run(context, noInput),
    ]);
    const repositoryNames = namesById(repositories, ({ fullName }) => fullName);
    const pipelineNames = namesById(
      pipelines,
      ({ repoId, name }) => `${repositoryNames.get(repoId) ?? "removed repository"} / ${name}`,
    );
    const pipelineName = ({ pipelineId }: { pipelineId: string }) =>
      pipelineNames.get(pipelineId) ?? "removed pipeline";
    const schedules = filterByText(all, query, (schedule) => [schedule.name, pipelineName(schedule)]);
    return {
      title: "Schedules",
      section: "schedules",
      body: (
        <>
          <div class="head">
            <h1>Schedules</h1>
            {all.length > 0 && <TextFilter path="/app/schedules" query={query} label="Name or pipeline" />}
          </div>
          <ScheduleRows schedules={schedules} now={context.now} pipelineName={pipelineName} />
          {all.length > 0 && schedules.length === 0 && <NoMatch noun="schedule" href="/app/schedules" />}
          {all.length === 0 && (
            <p class="empty">
              No schedules yet. Add one on a pipeline's page, or with <code>schedule</code> in the pipeline file.{" "}
              <a href="/app/repositories">Find a pipeline</a>
            </p>
          )}
        </>
      ),
    };
  },
};

const newPage: Page = {
  path: "/pipelines/:id/schedules/new",
  role: "maintainer",
  async show(context, request) {
    const { id, name } = await getPipeline.run(context, byId(request.params.id));
    return {
      title: `Add a schedule to ${name}`,
      section: "schedules",
      body: (
        <FormPage
          heading={
            <>
              Add a schedule to <a href={`/app/pipelines/${id}`}>{name}</a>
            </>
          }
          request={request}
          submit="Add schedule"
        >
          <ScheduleFields request={request} />
        </FormPage>
      ),
    };
  },
};

const addForm = formOn(newPage, createSchedule, async (context, { params, form }) => {
  const body = parseBody(createSchedule.body, { pipelineId: params.id, ...readSchedule(form) });
  const { id } = await createSchedule.run(context, withBody(body));
  return { to: `/app/schedules/${id}`, notice: "created" };
});

export const schedulesPages: Pages = [listPage, newPage, addForm];
