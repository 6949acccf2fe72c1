import { type Variable, VariableFilter } from "../../protocol/variable.ts";
import { createVariable, listVariables } from "../../services/variables.ts";
import { AreaField, CheckField, type Choice, SecretField, SelectField, TextField } from "../components/fields.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { filterByText } from "../components/text-filter.tsx";
import { RelativeTime } from "../components/time.tsx";
import { readFlag, readText } from "../form-fields.ts";
import type { Form, Page } from "../page-definition.ts";
import { hasRole } from "../permissions.ts";
import { ownerChoices, ownerFields, ownerKey, ownerPage, readOwners } from "../variable-owners.ts";
import { noInput, parseBody, withBody } from "../verb-input.ts";

const Owner = ({ of, choices }: { of: Variable; choices: Choice[] }) => {
  const key = ownerKey(of);
  const name = choices.find(({ value }) => value === key)?.label ?? of.scope;
  const page = ownerPage(key);
  return page ? <a href={page}>{name}</a> : name;
};

const Row = ({ of, choices, now }: { of: Variable; choices: Choice[]; now: Date }) => (
  <tr class={of.isActive ? undefined : "inactive"} data-row>
    <th scope="row">
      <a href={`/app/variables/${of.id}`} class="what">
        <code>{of.key}</code>
      </a>
      {!of.isActive && <span class="label">inactive</span>}
    </th>
    <td>{of.isSecret ? <span class="label">secret</span> : <code class="value">{of.value}</code>}</td>
    <td>
      <Owner of={of} choices={choices} />
      <span class="why">{of.scope}</span>
    </td>
    <td data-label="last used">
      {of.lastUsedAt ? <RelativeTime at={of.lastUsedAt} now={now} /> : <span class="hint">never</span>}
    </td>
    <td>{of.description}</td>
  </tr>
);

export const VariableTable = ({ variables, choices, now }: { variables: Variable[]; choices: Choice[]; now: Date }) => (
  <div class="wide">
    <table>
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">Value</th>
          <th scope="col">Of</th>
          <th scope="col">Last used</th>
          <th scope="col">Description</th>
        </tr>
      </thead>
      <tbody>
        {variables.map((variable) => (
          <Row of={variable} choices={choices} now={now} />
        ))}
      </tbody>
    </table>
  </div>
);

interface FilterParts {
  query: URLSearchParams;
  owner: string;
  withInactive: boolean;
  choices: Choice[];
}

const Filter = ({ query, owner, withInactive, choices }: FilterParts) => {
  const all = [{ value: "", label: "Everywhere" }, ...choices];
  const request = { params: {}, query: new URLSearchParams(), origin: "", form: null, problem: null };
  return (
    <form method="get" action="/app/variables" class="filter">
      <label>
        <span class="sr">Key</span>
        <input type="search" name="q" placeholder="Key" value={query.get("q") ?? ""} data-key="/" />
      </label>
      <SelectField request={request} name="owner" label="Of" value={owner} choices={all} />
      <label class="check">
        <input type="checkbox" name="inactive" checked={withInactive} /> inactive ones too
      </label>
      <button type="submit">Filter</button>
    </form>
  );
};

const page: Page = {
  path: "/variables",
  role: "viewer",
  async show(context, { query }) {
    const owner = query.get("owner") ?? "";
    const includeInactive = query.get("inactive") === "on";
    const wanted = VariableFilter.safeParse(owner ? ownerFields(owner, context.orgId) : {});
    const filter = { ...(wanted.success ? wanted.data : {}), includeInactive };
    const [all, owners] = await Promise.all([
      listVariables.run(context, { ...noInput, query: filter }),
      readOwners(context),
    ]);
    const variables = filterByText(all, query, ({ key, description }) => [key, description ?? ""]);
    const choices = ownerChoices(owners);
    const canChange = hasRole(context, "maintainer");
    const forOwner = owner ? `?owner=${encodeURIComponent(owner)}` : "";
    return {
      title: "Variables",
      section: "variables",
      body: (
        <>
          <div class="head">
            <h1>Variables</h1>
            <Filter query={query} owner={owner} withInactive={includeInactive} choices={choices} />
            <a class="button" href="/app/groups">
              Groups
            </a>
            {canChange && (
              <a class="button primary" href={`/app/variables/new${forOwner}`}>
                Add variable
              </a>
            )}
          </div>
          {variables.length > 0 ? (
            <VariableTable variables={variables} choices={choices} now={context.now} />
          ) : (
            <p class="empty">
              No variable here. Builds get what is stored for the organization, their groups, repository and pipeline.
            </p>
          )}
        </>
      ),
    };
  },
};

const newPage: Page = {
  path: "/variables/new",
  role: "maintainer",
  async show(context, request) {
    const owner = request.query.get("owner") ?? `organization:${context.orgId}`;
    const choices = ownerChoices(await readOwners(context));
    return {
      title: "Add a variable",
      section: "variables",
      body: (
        <div class="column">
          <h1>Add a variable</h1>
          <ProblemNotice request={request} />
          <form method="post" class="stack">
            <TextField request={request} name="key" label="Key" required placeholder="API_URL" />
            <SelectField request={request} name="owner" label="Belongs to" value={owner} choices={choices} />
            <CheckField
              request={request}
              name="isSecret"
              label="Secret"
              on
              hint="Sealed, masked in logs, and never shown again: not even to you."
            />
            <SecretField request={request} name="value" label="Value" />
            <AreaField request={request} name="description" label="Description" rows={2} />
            <CheckField request={request} name="allowOverride" label="A run may replace it" on />
            <button type="submit" class="primary">
              Add variable
            </button>
          </form>
        </div>
      ),
    };
  },
};

const createForm: Form = {
  path: newPage.path,
  access: createVariable.access,
  page: newPage,
  async submit(context, { form }) {
    const owner = form.get("owner") ?? "";
    const body = parseBody(createVariable.body, {
      ...ownerFields(owner, context.orgId),
      key: form.get("key")?.trim() ?? "",
      value: form.get("value") ?? "",
      isSecret: readFlag(form, "isSecret"),
      allowOverride: readFlag(form, "allowOverride"),
      description: readText(form, "description"),
    });
    await createVariable.run(context, withBody(body));
    return {
      to: ownerPage(owner)?.startsWith("/app/groups") ? (ownerPage(owner) ?? "") : "/app/variables",
      notice: "created",
    };
  },
};

export const variablesPages: Page[] = [page, newPage];
export const variablesForms: Form[] = [createForm];
