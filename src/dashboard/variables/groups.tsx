import type { Group } from "../../protocol/group.ts";
import type { Role } from "../../protocol/token.ts";
import { listPipelines } from "../../services/repositories/pipelines.ts";
import { createGroup, deleteGroup, getGroup, listGroups, updateGroup } from "../../services/variables/groups.ts";
import { listVariables } from "../../services/variables/variables.ts";
import { AreaField, readRequiredText, readText, TextField, VersionField } from "../parts/fields.tsx";
import { ProblemNotice, StackedForm } from "../parts/form-page.tsx";
import { count } from "../parts/format.ts";
import { filterByText, NoMatch, TextFilter } from "../parts/list-filter.tsx";
import { confirmRemoval } from "../shell/confirm-removal.tsx";
import { formOn, hasRole, type Page, type PageRequest, type Pages } from "../shell/page-definition.ts";
import { byId, noInput, parseBody, withBody } from "../shell/verb-input.ts";
import { ProtectionFacts, ProtectionFields, readProtection } from "./group-protection.tsx";
import { VariableTable } from "./variable-table.tsx";

interface FieldsProps {
  request: PageRequest;
  group?: Group;
  /** The person's role. */
  own: Role | null;
}

const Fields = ({ request, group, own }: FieldsProps) => (
  <>
    <TextField request={request} name="name" label="Name" value={group?.name} required />
    <AreaField request={request} name="description" label="Description" value={group?.description} rows={2} />
    <ProtectionFields request={request} protection={group?.protection ?? null} own={own} />
  </>
);

const readGroup = (form: URLSearchParams) => ({
  name: readRequiredText(form, "name"),
  description: readText(form, "description"),
  ...readProtection(form),
});

const Row = ({ group: { id, name, description, variableCount, protection } }: { group: Group }) => (
  <li class="row repository-row" data-row data-end={`/app/groups/${id}/remove`}>
    <a href={`/app/groups/${id}`} class="what">
      {name}
    </a>
    <span class="ref">{description}</span>
    <span class="progress">
      {count(variableCount, "variable")}
      {protection && <span class="why">protected</span>}
    </span>
  </li>
);

const listPage: Page = {
  path: "/groups",
  role: "viewer",
  async show(context, request) {
    const all = await listGroups.run(context, { ...noInput, query: { includeVariables: false } });
    const groups = filterByText(all, request.query, ({ name, description }) => [name, description ?? ""]);
    return {
      title: "Variable groups",
      section: "groups",
      body: (
        <>
          <ProblemNotice request={request} />
          <div class="head">
            <h1>Variable groups</h1>
            {all.length > 0 && <TextFilter path="/app/groups" query={request.query} label="Name" />}
          </div>
          <ol class="rows">
            {groups.map((group) => (
              <Row group={group} />
            ))}
          </ol>
          {all.length > 0 && groups.length === 0 && <NoMatch noun="group" href="/app/groups" />}
          {all.length === 0 && (
            <p class="empty">No groups yet. A group holds variables that several pipelines share.</p>
          )}
          {hasRole(context, "maintainer") && (
            <section class="column">
              <h2>Add a group</h2>
              <StackedForm submit="Add group">
                <Fields request={request} own={context.admitted.role} />
              </StackedForm>
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
  async show(context, request) {
    const groupId = request.params.id ?? "";
    const [{ value: group, version }, variables, pipelines] = await Promise.all([
      getGroup.answer(context, byId(groupId)),
      listVariables.run(context, { ...noInput, query: { groupId, includeInactive: true } }),
      listPipelines.run(context, noInput),
    ]);
    const attachedTo = pipelines.filter(({ groupIds }) => groupIds.includes(group.id));
    const canChange = hasRole(context, "maintainer");
    const owners = [{ value: `group:${group.id}`, label: group.name }];
    return {
      title: group.name,
      section: "groups",
      body: (
        <>
          <ProblemNotice request={request} />
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
            <span>{attachedTo.length === 0 ? "Not used by any pipeline" : "Used by"}</span>
            {attachedTo.map(({ id, name }) => (
              <a href={`/app/pipelines/${id}`}>{name}</a>
            ))}
          </p>
          <ProtectionFacts protection={group.protection} />
          {variables.length > 0 ? (
            <VariableTable variables={variables} owners={owners} now={context.now} />
          ) : (
            <p class="empty">The group has no variables yet.</p>
          )}
          {canChange && (
            <section class="column">
              <h2>Settings</h2>
              <StackedForm submit="Save">
                <VersionField version={version} />
                <Fields request={request} group={group} own={context.admitted.role} />
              </StackedForm>
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

const createForm = formOn(listPage, createGroup, async (context, { form }) => {
  const { id } = await createGroup.run(context, withBody(parseBody(createGroup.body, readGroup(form))));
  return { to: `/app/groups/${id}`, notice: "created" };
});

const saveForm = formOn(page, updateGroup, async (context, { params, form }) => {
  await updateGroup.run(context, { ...byId(params.id), body: parseBody(updateGroup.body, readGroup(form)) });
  return { to: `/app/groups/${params.id}`, notice: "saved" };
});

const remove = confirmRemoval({
  path: "/groups/:id/remove",
  section: "groups",
  access: { role: "maintainer" },
  verb: "remove",
  async question(context, id) {
    const { name, variableCount } = await getGroup.run(context, byId(id));
    const consequences = `This also removes ${count(variableCount, "variable")} in the group. You cannot remove a group that a pipeline uses.`;
    return { name, consequences, back: `/app/groups/${id}`, next: "/app/groups" };
  },
  remove: (context, id) => deleteGroup.run(context, byId(id)),
});

export const groupPages: Pages = [listPage, page, ...remove, createForm, saveForm];
