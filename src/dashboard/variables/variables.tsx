import { VariableFilter } from "../../protocol/variable.ts";
import { createVariable, listVariables } from "../../services/variables/variables.ts";
import {
  AreaField,
  CheckField,
  type Choice,
  readFlag,
  readRequiredText,
  readText,
  SecretField,
  SelectField,
  TextField,
} from "../parts/fields.tsx";
import { FormPage } from "../parts/form-page.tsx";
import { FilterNotice, filterByText, readFilter } from "../parts/list-filter.tsx";
import { formOn, hasRole, type Page, type Pages } from "../shell/page-definition.ts";
import { noInput, parseBody, withBody } from "../shell/verb-input.ts";
import { FileFields, readFileFields } from "./file-fields.tsx";
import { ownerChoices, ownerFields, ownerPage, readVariableOwners, VariableTable } from "./variable-table.tsx";

interface FilterProps {
  query: URLSearchParams;
  owner: string;
  includeInactive: boolean;
  owners: Choice[];
}

const Filter = ({ query, owner, includeInactive, owners }: FilterProps) => (
  <form method="get" action="/app/variables" class="filter">
    <label>
      <span class="sr">Key</span>
      <input type="search" name="q" placeholder="Key" value={query.get("q") ?? ""} data-key="/" />
    </label>
    <SelectField
      request={{ form: null, problem: null }}
      name="owner"
      label="Owner"
      value={owner}
      choices={[{ value: "", label: "Any owner" }, ...owners]}
    />
    <label class="check">
      <input type="checkbox" name="inactive" checked={includeInactive} /> Show inactive
    </label>
    <button type="submit">Filter</button>
  </form>
);

/** Reads the address's filters. The owner is one field in the address and up to three fields of the verb. */
const readVariableFilter = (query: URLSearchParams, orgId: string) => {
  const owner = query.get("owner") ?? "";
  const { filter, errors } = readFilter(VariableFilter, owner ? ownerFields(owner, orgId) : {});
  return {
    filter: errors.length === 0 ? filter : {},
    errors: errors.length === 0 ? [] : [{ pointer: "/owner", detail: "must be in the list" }],
  };
};

const page: Page = {
  path: "/variables",
  role: "viewer",
  async show(context, { query }) {
    const owner = query.get("owner") ?? "";
    const includeInactive = query.get("inactive") === "on";
    const { filter, errors } = readVariableFilter(query, context.orgId);
    const [all, allOwners] = await Promise.all([
      listVariables.run(context, { ...noInput, query: { ...filter, includeInactive } }),
      readVariableOwners(context),
    ]);
    const variables = filterByText(all, query, ({ key, description }) => [key, description ?? ""]);
    const owners = ownerChoices(allOwners);
    const canChange = hasRole(context, "maintainer");
    const search = owner ? `?owner=${encodeURIComponent(owner)}` : "";
    return {
      title: "Variables",
      section: "variables",
      body: (
        <>
          <FilterNotice errors={errors} />
          <div class="head">
            <h1>Variables</h1>
            <Filter query={query} owner={owner} includeInactive={includeInactive} owners={owners} />
            {canChange && (
              <a class="button primary" href={`/app/variables/new${search}`}>
                Add variable
              </a>
            )}
          </div>
          {variables.length > 0 ? (
            <VariableTable variables={variables} owners={owners} now={context.now} />
          ) : (
            <p class="empty">
              No variables. A build gets the variables of its organization, its pipeline's groups, its repository and
              its pipeline.
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
    const owners = ownerChoices(await readVariableOwners(context));
    return {
      title: "Add a variable",
      section: "variables",
      body: (
        <FormPage heading="Add a variable" request={request} submit="Add variable">
          <TextField request={request} name="key" label="Key" required placeholder="API_URL" />
          <SelectField request={request} name="owner" label="Owner" value={owner} choices={owners} />
          <CheckField
            request={request}
            name="isSecret"
            label="Secret"
            on={true}
            hint="Secrets are stored encrypted, masked in logs and never shown again, not even to you."
          />
          <SecretField request={request} name="value" label="Value" />
          <FileFields request={request} />
          <AreaField request={request} name="description" label="Description" rows={2} />
          <CheckField request={request} name="allowOverride" label="Allow builds to override it" on={true} />
        </FormPage>
      ),
    };
  },
};

const createForm = formOn(newPage, createVariable, async (context, { form }) => {
  const owner = form.get("owner") ?? "";
  const body = parseBody(createVariable.body, {
    ...ownerFields(owner, context.orgId),
    key: readRequiredText(form, "key"),
    value: form.get("value") ?? "",
    ...readFileFields(form),
    isSecret: readFlag(form, "isSecret"),
    allowOverride: readFlag(form, "allowOverride"),
    description: readText(form, "description"),
  });
  const { warnings } = await createVariable.run(context, withBody(body));
  const page = ownerPage(owner);
  return { to: page?.startsWith("/app/groups/") ? page : "/app/variables", notice: warnings?.[0] ?? "created" };
});

export const variablesPages: Pages = [page, newPage, createForm];
