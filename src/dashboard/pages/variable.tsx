import type { Variable } from "../../protocol/variable.ts";
import { listUses } from "../../services/variable-uses.ts";
import { deleteVariable, getVariable, updateVariable } from "../../services/variables.ts";
import { byId, checked } from "../ask.ts";
import { flagIn, textIn } from "../entered.ts";
import { may } from "../may.ts";
import { ownerChoices, ownerKey, ownerPage, readOwners } from "../owners.ts";
import type { Asked, Form, Page } from "../page.ts";
import { AreaField, CheckField, SecretField, TextField, Version } from "../parts/field.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { Ago } from "../parts/time.tsx";
import { removal } from "../removal.tsx";

type Uses = Awaited<ReturnType<typeof listUses.run>>;
const SHOWN_USES = 20;

const Edit = ({ asked, of, version }: { asked: Asked; of: Variable; version: number | null }) => (
  <form method="post" class="stack">
    <Version of={version} />
    <TextField {...{ asked, name: "key", label: "Key", value: of.key, required: true }} />
    {of.isSecret && <input type="hidden" name="wasSecret" value="on" />}
    {of.isSecret ? (
      <SecretField {...{ asked, name: "value", label: "New value" }} hint="Leave it empty to keep the one it has." />
    ) : (
      <AreaField {...{ asked, name: "value", label: "Value", value: of.value, rows: 3 }} />
    )}
    <CheckField
      {...{ asked, name: "isSecret", label: "Secret", on: of.isSecret }}
      hint={of.isSecret ? "A secret becomes plain only together with a new value." : undefined}
    />
    <AreaField {...{ asked, name: "description", label: "Description", value: of.description, rows: 2 }} />
    <CheckField {...{ asked, name: "isActive", label: "Active: builds get it", on: of.isActive }} />
    <CheckField {...{ asked, name: "allowOverride", label: "A run may replace it", on: of.allowOverride }} />
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
            <a href={`/app/builds/${buildId}`}>build {buildId.slice(-8)}</a> <Ago at={at} now={now} />
          </li>
        ))}
      </ul>
    )}
  </section>
);

const page: Page = {
  path: "/variables/:id",
  role: "viewer",
  async show(context, asked) {
    const { value: variable, version } = await getVariable.answer(context, byId(asked.params.id));
    const canChange = may(context, "maintainer");
    const [owners, uses] = await Promise.all([
      readOwners(context),
      canChange ? listUses.run(context, byId(variable.id)) : null,
    ]);
    const owner = ownerKey(variable);
    const label = ownerChoices(owners).find(({ value }) => value === owner)?.label ?? variable.scope;
    const ownersPage = ownerPage(owner);
    return {
      ...{ title: variable.key, section: "variables" },
      body: (
        <div class="column">
          <ProblemNotice asked={asked} />
          <h1>{variable.key}</h1>
          <p class="facts">
            <span>{variable.isSecret ? "secret" : "plain"}</span>
            <span>
              {variable.scope} {ownersPage ? <a href={ownersPage}>{label}</a> : label}
            </span>
            {!variable.isActive && <span class="label">inactive</span>}
            <span>
              changed <Ago at={variable.updatedAt} now={context.now} />
            </span>
            {variable.lastUsedAt && (
              <span>
                used <Ago at={variable.lastUsedAt} now={context.now} />
              </span>
            )}
          </p>
          {canChange ? (
            <Edit asked={asked} of={variable} version={version} />
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
  ...{ path: page.path, access: updateVariable.access, page },
  async act(context, { params, entered }) {
    const value = entered.get("value") ?? "";
    const isKept = value === "" && flagIn(entered, "wasSecret");
    const body = checked(updateVariable.body, {
      ...{ key: entered.get("key")?.trim() ?? "", description: textIn(entered, "description") },
      ...(isKept ? {} : { value }),
      ...{
        isSecret: flagIn(entered, "isSecret"),
        isActive: flagIn(entered, "isActive"),
        allowOverride: flagIn(entered, "allowOverride"),
      },
    });
    await updateVariable.run(context, { ...byId(params.id), body });
    return { to: `/app/variables/${params.id}`, done: "saved" };
  },
};

const remove = removal({
  ...{ path: "/variables/:id/remove", section: "variables", access: { role: "maintainer" }, verb: "remove" },
  async ask(context, id) {
    const { key, scope } = await getVariable.run(context, byId(id));
    const words = `Builds get ${key} no more, unless another scope than the ${scope} has it. Its value is gone for good.`;
    return { name: key, words, back: `/app/variables/${id}`, to: "/app/variables" };
  },
  remove: (context, id) => deleteVariable.run(context, byId(id)),
});

export const variablePages: Page[] = [page, remove.page];
export const variableForms: Form[] = [saveForm, remove.form];
