import type { Variable } from "../../protocol/variable.ts";
import { listUses } from "../../services/variable-uses.ts";
import { getVariable, removeVariable, updateVariable } from "../../services/variables.ts";
import { AreaField, CheckField, SecretField, TextField, VersionField } from "../components/fields.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { RelativeTime } from "../components/time.tsx";
import { confirmRemoval } from "../confirm-removal.tsx";
import { readFlag, readText } from "../form-fields.ts";
import type { Form, Page, PageRequest } from "../page-definition.ts";
import { hasRole } from "../permissions.ts";
import { ownerChoices, ownerKey, ownerPage, readOwners } from "../variable-owners.ts";
import { byId, parseBody } from "../verb-input.ts";

type Uses = Awaited<ReturnType<typeof listUses.run>>;
const SHOWN_USES = 20;

const Edit = ({ request, of, version }: { request: PageRequest; of: Variable; version: number | null }) => (
  <form method="post" class="stack">
    <VersionField of={version} />
    <TextField request={request} name="key" label="Key" value={of.key} required />
    {of.isSecret && <input type="hidden" name="wasSecret" value="on" />}
    {of.isSecret ? (
      <SecretField request={request} name="value" label="New value" hint="Leave it empty to keep the one it has." />
    ) : (
      <AreaField request={request} name="value" label="Value" value={of.value} rows={3} />
    )}
    <CheckField
      request={request}
      name="isSecret"
      label="Secret"
      on={of.isSecret}
      hint={of.isSecret ? "A secret becomes plain only together with a new value." : undefined}
    />
    <AreaField request={request} name="description" label="Description" value={of.description} rows={2} />
    <CheckField request={request} name="isActive" label="Active: builds get it" on={of.isActive} />
    <CheckField request={request} name="allowOverride" label="A run may replace it" on={of.allowOverride} />
    <button type="submit" class="primary">
      Save
    </button>
  </form>
);

const UsedBy = ({ uses, now }: { uses: Uses; now: Date }) => (
  <section>
    <h2>Where it was used</h2>
    {uses.length === 0 ? (
      <p class="hint">No build was given it yet.</p>
    ) : (
      <ul class="plain">
        {uses.slice(0, SHOWN_USES).map(({ buildId, at }) => (
          <li>
            <a href={`/app/builds/${buildId}`}>build {buildId.slice(-8)}</a> <RelativeTime at={at} now={now} />
          </li>
        ))}
      </ul>
    )}
  </section>
);

const page: Page = {
  path: "/variables/:id",
  role: "viewer",
  async show(context, request) {
    const variable = await getVariable.run(context, byId(request.params.id));
    const { version } = context;
    const canChange = hasRole(context, "maintainer");
    const [owners, uses] = await Promise.all([
      readOwners(context),
      canChange ? listUses.run(context, byId(variable.id)) : null,
    ]);
    const owner = ownerKey(variable);
    const label = ownerChoices(owners).find(({ value }) => value === owner)?.label ?? variable.scope;
    const ownersPage = ownerPage(owner);
    return {
      title: variable.key,
      section: "variables",
      body: (
        <div class="column">
          <ProblemNotice request={request} />
          <h1>{variable.key}</h1>
          <p class="facts">
            <span>{variable.isSecret ? "secret" : "plain"}</span>
            <span>
              {variable.scope} {ownersPage ? <a href={ownersPage}>{label}</a> : label}
            </span>
            {!variable.isActive && <span class="label">inactive</span>}
            <span>
              changed <RelativeTime at={variable.updatedAt} now={context.now} />
            </span>
            {variable.lastUsedAt && (
              <span>
                used <RelativeTime at={variable.lastUsedAt} now={context.now} />
              </span>
            )}
          </p>
          {canChange ? (
            <Edit request={request} of={variable} version={version} />
          ) : (
            !variable.isSecret && <pre class="definition">{variable.value}</pre>
          )}
          {uses && <UsedBy uses={uses} now={context.now} />}
          {canChange && (
            <p>
              <a class="button danger" href={`/app/variables/${variable.id}/remove`}>
                Remove variable
              </a>
            </p>
          )}
        </div>
      ),
    };
  },
};

const saveForm: Form = {
  path: page.path,
  access: updateVariable.access,
  page,
  async submit(context, { params, form }) {
    const value = form.get("value") ?? "";
    const isKept = value === "" && readFlag(form, "wasSecret");
    const body = parseBody(updateVariable.body, {
      key: form.get("key")?.trim() ?? "",
      description: readText(form, "description"),
      ...(isKept ? {} : { value }),
      isSecret: readFlag(form, "isSecret"),
      isActive: readFlag(form, "isActive"),
      allowOverride: readFlag(form, "allowOverride"),
    });
    await updateVariable.run(context, { ...byId(params.id), body });
    return { to: `/app/variables/${params.id}`, notice: "saved" };
  },
};

const remove = confirmRemoval({
  path: "/variables/:id/remove",
  section: "variables",
  access: { role: "maintainer" },
  verb: "remove",
  async question(context, id) {
    const { key, scope } = await getVariable.run(context, byId(id));
    const consequences = `Builds get ${key} no more, unless another scope than the ${scope} has it. Its value is gone for good.`;
    return { name: key, consequences, back: `/app/variables/${id}`, next: "/app/variables" };
  },
  remove: (context, id) => removeVariable.run(context, byId(id)),
});

export const variablePages: Page[] = [page, remove.page];
export const variableForms: Form[] = [saveForm, remove.form];
