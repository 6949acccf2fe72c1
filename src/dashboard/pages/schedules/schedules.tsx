import { getPipeline, listPipelines } from "../../../services/pipelines.ts";
import { listRepositories } from "../../../services/repositories.ts";
import { createSchedule, listSchedules } from "../../../services/schedules.ts";
import { FormPage } from "../../components/form-page.tsx";
import { readSchedule, ScheduleFields } from "../../components/schedule-fields.tsx";
import { ScheduleRows } from "../../components/schedule-rows.tsx";
import { filterByText, NoMatch, TextFilter } from "../../components/text-filter.tsx";
import { formOf, type Page, type Pages } from "../../page-definition.ts";
import { byId, namesById, noInput, parseBody, withBody } from "../../verb-input.ts";

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
    const pipelineOf = ({ pipelineId }: { pipelineId: string }) => pipelineNames.get(pipelineId) ?? "removed pipeline";
    const schedules = filterByText(all, query, (schedule) => [schedule.name, pipelineOf(schedule)]);
    return {
      title: "Schedules",
      section: "schedules",
      body: (
        <>
          <div class="head">
            <h1>Schedules</h1>
            {all.length > 0 && <TextFilter path="/app/schedules" query={query} label="Name or pipeline" />}
          </div>
          <ScheduleRows schedules={schedules} now={context.now} pipelineOf={pipelineOf} />
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

const addForm = formOf(newPage, createSchedule, async (context, { params, form }) => {
  const body = parseBody(createSchedule.body, { pipelineId: params.id, ...readSchedule(form) });
  const { id } = await createSchedule.run(context, withBody(body));
  return { to: `/app/schedules/${id}`, notice: "created" };
});

export const schedulesPages: Pages = [listPage, newPage, addForm];
