import { getPipeline, listPipelines } from "../../services/repositories/pipelines.ts";
import { listRepositories } from "../../services/repositories/repositories.ts";
import { createSchedule, listSchedules } from "../../services/schedules/schedules.ts";
import { FormPage } from "../parts/form-page.tsx";
import { filterByText, NoMatch, TextFilter } from "../parts/text-filter.tsx";
import { formOf, type Page, type Pages } from "../shell/page-definition.ts";
import { byId, namesById, noInput, parseBody, withBody } from "../shell/verb-input.ts";
import { readSchedule, ScheduleFields } from "./schedule-fields.tsx";
import { ScheduleRows } from "./schedule-rows.tsx";

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
