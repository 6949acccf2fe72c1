import type { Group } from "../../protocol/group.ts";
import { createGroup, deleteGroup, getGroup, listGroups, updateGroup } from "../../services/groups.ts";
import { listPipelines } from "../../services/pipelines.ts";
import { listVariables } from "../../services/variables.ts";
import { byId, checked, nothing, withBody } from "../ask.ts";
import { textIn } from "../entered.ts";
import { may } from "../may.ts";
import type { Asked, Form, Page } from "../page.ts";
import { AreaField, TextField, Version } from "../parts/field.tsx";
import { matching, NameFilter } from "../parts/name-filter.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { removal } from "../removal.tsx";
import { VariableTable } from "./variables.tsx";

const Fields = ({ asked, of }: { asked: Asked; of?: Group }) => (
  <>
    <TextField {...{ asked, name: "name", label: "Name", value: of?.name, required: true }} />
    <AreaField {...{ asked, name: "description", label: "Description", value: of?.description, rows: 2 }} />
  </>
);

const groupIn = (entered: URLSearchParams) => ({
  name: entered.get("name")?.trim() ?? "",
  description: textIn(entered, "description"),
});

const listPage: Page = {
  path: "/groups",
  role: "viewer",
  async show(context, asked) {
    const all = await listGroups.run(context, { ...nothing, query: { includeVariables: false } });
    const groups = matching(all, asked.query, ({ name, description }) => [name, description ?? ""]);
    return {
      ...{ title: "Variable groups", section: "variables" },
      body: (
        <>
          <ProblemNotice asked={asked} />
          <div class="head">
            <h1>Variable groups</h1>
            {all.length > 0 && <NameFilter path="/app/groups" query={asked.query} label="Name" />}
            <a class="button" href="/app/variables">
              Variables
            </a>
          </div>
          <ol class="rows">
            {groups.map(({ id, name, description, variableCount }) => (
              <li class="row repository-row" data-row>
                <a href={`/app/groups/${id}`} class="what">
                  {name}
                </a>
                <span class="ref">{description}</span>
                <span class="progress">
                  {variableCount} {variableCount === 1 ? "variable" : "variables"}
                </span>
              </li>
            ))}
          </ol>
          {all.length > 0 && groups.length === 0 && (
            <p class="empty">
              No group matches. <a href="/app/groups">Show all</a>
            </p>
          )}
          {all.length === 0 && <p class="empty">No group yet: one holds variables that several pipelines share.</p>}
          {may(context, "maintainer") && (
            <section class="column">
              <h2>Add a group</h2>
              <form method="post" class="stack">
                <Fields asked={asked} />
                <button type="submit" class="primary">
                  Add group
                </button>
              </form>
            </section>
          )}
        </>
      ),
    };
  },
};

const page: Page = {
  path: "/groups/:id",
  role: "viewer",
  async show(context, asked) {
    const groupId = asked.params.id ?? "";
    const [{ value: group, version }, variables, pipelines] = await Promise.all([
      getGroup.answer(context, byId(groupId)),
      listVariables.run(context, { ...nothing, query: { groupId, includeInactive: true } }),
      listPipelines.run(context, nothing),
    ]);
    const users = pipelines.filter(({ groupIds }) => groupIds.includes(group.id));
    const canChange = may(context, "maintainer");
    const choices = [{ value: `group:${group.id}`, label: group.name }];
    return {
      ...{ title: group.name, section: "variables" },
      body: (
        <>
          <ProblemNotice asked={asked} />
          <div class="head">
            <h1>{group.name}</h1>
            {canChange && (
              <a class="button primary" href={`/app/variables/new?owner=group:${group.id}`}>
                Add variable
              </a>
            )}
          </div>
          <p class="facts">
            {group.description && <span>{group.description}</span>}
            <span>{users.length === 0 ? "No pipeline attaches it." : "Attached by"}</span>
            {users.map(({ id, name }) => (
              <a href={`/app/pipelines/${id}`}>{name}</a>
            ))}
          </p>
          {variables.length > 0 ? (
            <VariableTable variables={variables} choices={choices} now={context.now} />
          ) : (
            <p class="empty">No variable in it yet.</p>
          )}
          {canChange && (
            <section class="column">
              <h2>Settings</h2>
              <form method="post" class="stack">
                <Version of={version} />
                <Fields asked={asked} of={group} />
                <button type="submit" class="primary">
                  Save
                </button>
              </form>
              <p>
                <a class="button danger" href={`/app/groups/${group.id}/remove`}>
                  Remove group
                </a>
              </p>
            </section>
          )}
        </>
      ),
    };
  },
};

const createForm: Form = {
  ...{ path: listPage.path, access: createGroup.access, page: listPage },
  async act(context, { entered }) {
    const { id } = await createGroup.run(context, withBody(checked(createGroup.body, groupIn(entered))));
    return { to: `/app/groups/${id}`, done: "created" };
  },
};

const saveForm: Form = {
  ...{ path: page.path, access: updateGroup.access, page },
  async act(context, { params, entered }) {
    await updateGroup.run(context, { ...byId(params.id), body: checked(updateGroup.body, groupIn(entered)) });
    return { to: `/app/groups/${params.id}`, done: "saved" };
  },
};

const remove = removal({
  ...{ path: "/groups/:id/remove", section: "variables", access: { role: "maintainer" }, verb: "remove" },
  async ask(context, id) {
    const { name, variableCount } = await getGroup.run(context, byId(id));
    const words = `Its ${variableCount} variables go with it. A group that a pipeline attaches stays.`;
    return { name, words, back: `/app/groups/${id}`, to: "/app/groups" };
  },
  remove: (context, id) => deleteGroup.run(context, byId(id)),
});

export const groupPages: Page[] = [listPage, page, remove.page];
export const groupForms: Form[] = [createForm, saveForm, remove.form];
