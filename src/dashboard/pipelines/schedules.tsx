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
    One NAME=value per line. They are stored sealed.{" "}
    {keys.length > 0 && (
      <>
        Now: <code>{keys.join(", ")}</code>. Leave it empty to keep them.
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
      label="Times"
      value={schedule?.cron}
      required
      placeholder="0 2 * * MON-FRI"
      hint={
        <>
          Minute, hour, day of the month, month, day of the week: <code>0 2 * * *</code> is each night at two,{" "}
          <code>*/30 * * * *</code> each half hour.
        </>
      }
    />
    <TextField
      request={request}
      name="timeZone"
      label="Time zone"
      value={schedule?.timeZone ?? "UTC"}
      required
      hint="As Europe/Berlin."
    />
    <TextField
      request={request}
      name="ref"
      label="Branch or tag"
      value={schedule?.ref?.replace(/^refs\/heads\//, "")}
      hint="Leave it empty for the default branch."
    />
    <SecretField
      request={request}
      name="envVariables"
      label="Variables of its builds"
      placeholder="NAME=value"
      hint={<ValuesHint keys={schedule?.envKeys ?? []} />}
    />
    {schedule && schedule.envKeys.length > 0 && (
      <CheckField request={request} name="forgetsVariables" label="Forget its variables" on={false} />
    )}
    <CheckField request={request} name="isActive" label="On: its builds are made" on={schedule?.isActive ?? true} />
  </>
);

/** Returns the variables. Undefined keeps the stored ones. */
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
  /** The name of a schedule's pipeline; null on a page about one pipeline. */
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
              of <bdi>{pipelineName(schedule)}</bdi>
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
              Nothing is built at set times yet. Add a schedule on the page of a pipeline, or write{" "}
              <code>schedule</code> into its file. <a href="/app/repositories">Find the pipeline</a>
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
