import type { Variable } from "../../protocol/variable.ts";
import { type Named, readNames } from "../../services/builds/names.ts";
import type { Context } from "../../services/core/context.ts";
import { listUses } from "../../services/variables/variable-uses.ts";
import { deleteVariable, getVariable, updateVariable } from "../../services/variables/variables.ts";
import {
  AreaField,
  CheckField,
  readFlag,
  readRequiredText,
  readText,
  SecretField,
  TextField,
  VersionField,
} from "../parts/fields.tsx";
import { ProblemNotice, StackedForm } from "../parts/form-page.tsx";
import { RelativeDay, RelativeTime } from "../parts/time.tsx";
import { confirmRemoval } from "../shell/confirm-removal.tsx";
import { formOn, hasRole, type Page, type PageRequest, type Pages } from "../shell/page-definition.ts";
import { byId, parseBody } from "../shell/verb-input.ts";
import { FileFields, fileInWords, readFileFields } from "./file-fields.tsx";
import { ownerChoices, ownerKey, ownerPage, readVariableOwners } from "./variable-table.tsx";

const SHOWN = 20;
/** The maximum number of builds whose names one query reads. */
const NAMED = 100;

interface Uses {
  listed: Awaited<ReturnType<typeof listUses.run>>;
  names: Map<string, Named>;
  /** The number of known uses, whether the page shows them or not. */
  total: number;
}

/** Reads the first uses on the newest days, or all known uses if the address requests them (`?uses=all`). */
const readUses = async (context: Context, id: string, query: URLSearchParams): Promise<Uses> => {
  const uses = await listUses.run(context, byId(id));
  const listed = query.get("uses") === "all" ? uses : uses.slice(0, SHOWN);
  const ids = listed.map(({ buildId }) => buildId);
  const parts = [ids.slice(0, NAMED), ids.slice(NAMED)];
  const namesByPart = await Promise.all(parts.map((build) => readNames(context, { build })));
  return { listed, names: new Map(namesByPart.flatMap((part) => [...part])), total: uses.length };
};

/**
 * Returns the address of the builds since a day that may have used the variable: builds of its repository or pipeline,
 * or all builds.
 */
const buildsSince = (day: string, { repoId, pipelineId }: Variable): string => {
  const owner = { ...(repoId && { repoId }), ...(pipelineId && { pipelineId }) };
  return `/app/builds?${new URLSearchParams({ ...owner, since: day, view: "all" })}`;
};

interface VariableUsesProps {
  variable: Variable;
  uses: Uses;
  now: Date;
}

/** Shows the first use on each day, because the service keeps no other use. Also links to the other builds. */
const VariableUses = ({ variable, uses: { listed, names, total }, now }: VariableUsesProps) => {
  const day = listed.at(-1)?.at.slice(0, 10);
  return (
    <section id="uses">
      <h2>First build of each day that used it</h2>
      {day === undefined ? (
        <p class="hint">No builds have used it yet.</p>
      ) : (
        <>
          <ul class="plain">
            {listed.map(({ buildId, at }) => (
              <li>
                <a href={`/app/${names.get(buildId)?.kind === "job" ? "jobs" : "builds"}/${buildId}`}>
                  {names.get(buildId)?.name ?? "a build"}
                </a>{" "}
                <RelativeTime at={at} now={now} />
              </li>
            ))}
          </ul>
          <p class="hint">
            Later builds of the same day are not listed: see{" "}
            <a href={buildsSince(day, variable)}>all builds since {day}</a>. Days are in UTC.
          </p>
          {total > listed.length && (
            <p>
              <a href="?uses=all#uses">Show all {total} days</a>
            </p>
          )}
        </>
      )}
    </section>
  );
};

const ValueField = ({ request, variable }: { request: PageRequest; variable: Variable }) =>
  variable.isSecret ? (
    <>
      <input type="hidden" name="wasSecret" value="on" />
      <SecretField
        request={request}
        name="value"
        label="New value"
        hint="Leave the field empty to keep the current value."
      />
    </>
  ) : (
    <AreaField request={request} name="value" label="Value" value={variable.value} rows={3} />
  );

interface EditFormProps {
  request: PageRequest;
  variable: Variable;
  version: number | null;
}

const EditForm = ({ request, variable, version }: EditFormProps) => {
  const { key, isSecret, description, isActive, allowOverride } = variable;
  return (
    <StackedForm submit="Save">
      <VersionField version={version} />
      <TextField request={request} name="key" label="Key" value={key} required />
      <ValueField request={request} variable={variable} />
      <FileFields request={request} fileEncoding={variable.fileEncoding} fileName={variable.fileName} />
      <CheckField
        request={request}
        name="isSecret"
        label="Secret"
        on={isSecret}
        hint={isSecret ? "To turn the secret into plain text, enter a new value." : undefined}
      />
      <AreaField request={request} name="description" label="Description" value={description} rows={2} />
      <CheckField request={request} name="isActive" label="Active: builds get this variable" on={isActive} />
      <CheckField request={request} name="allowOverride" label="Allow builds to override it" on={allowOverride} />
    </StackedForm>
  );
};

interface FactsProps {
  variable: Variable;
  owner: { label: string; page: string | null };
  now: Date;
}

const Facts = ({ variable, owner, now }: FactsProps) => (
  <p class="facts">
    <span>{variable.isSecret ? "secret" : "plain text"}</span>
    <span>
      {variable.scope} {owner.page ? <a href={owner.page}>{owner.label}</a> : owner.label}
    </span>
    {variable.isFile && <span>{fileInWords(variable)}</span>}
    {!variable.isActive && <span class="label">inactive</span>}
    <span>
      changed <RelativeTime at={variable.updatedAt} now={now} />
    </span>
    {variable.lastUsedAt && (
      <span>
        last used <RelativeDay at={variable.lastUsedAt} now={now} />
      </span>
    )}
  </p>
);

const page: Page = {
  path: "/variables/:id",
  role: "viewer",
  async show(context, request) {
    const { value: variable, version } = await getVariable.answer(context, byId(request.params.id));
    const canChange = hasRole(context, "maintainer");
    const [owners, uses] = await Promise.all([
      readVariableOwners(context),
      canChange ? readUses(context, variable.id, request.query) : null,
    ]);
    const key = ownerKey(variable);
    const label = ownerChoices(owners).find(({ value }) => value === key)?.label ?? variable.scope;
    return {
      title: variable.key,
      section: "variables",
      body: (
        <div class="column">
          <ProblemNotice request={request} />
          <h1>{variable.key}</h1>
          <Facts variable={variable} owner={{ label, page: ownerPage(key) }} now={context.now} />
          {canChange ? (
            <EditForm request={request} variable={variable} version={version} />
          ) : (
            !variable.isSecret && <pre class="definition">{variable.value}</pre>
          )}
          {uses && <VariableUses variable={variable} uses={uses} now={context.now} />}
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

const saveForm = formOn(page, updateVariable, async (context, { params, form }) => {
  const value = form.get("value") ?? "";
  const keepsValue = value === "" && readFlag(form, "wasSecret");
  const body = parseBody(updateVariable.body, {
    key: readRequiredText(form, "key"),
    description: readText(form, "description"),
    ...(keepsValue ? {} : { value }),
    ...readFileFields(form),
    isSecret: readFlag(form, "isSecret"),
    isActive: readFlag(form, "isActive"),
    allowOverride: readFlag(form, "allowOverride"),
  });
  const { warnings } = await updateVariable.run(context, { ...byId(params.id), body });
  return { to: `/app/variables/${params.id}`, notice: warnings?.[0] ?? "saved" };
});

const remove = confirmRemoval({
  path: "/variables/:id/remove",
  section: "variables",
  access: { role: "maintainer" },
  verb: "remove",
  async question(context, id) {
    const { key, scope } = await getVariable.run(context, byId(id));
    const consequences = `Builds no longer get ${key}, unless a scope other than the ${scope} also has it. Its value is deleted permanently.`;
    return { name: key, consequences, back: `/app/variables/${id}`, next: "/app/variables" };
  },
  remove: (context, id) => deleteVariable.run(context, byId(id)),
});

export const variablePages: Pages = [page, ...remove, saveForm];
