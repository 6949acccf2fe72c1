import { ROLES, type Token } from "../../protocol/token.ts";
import { invalid } from "../../services/core/refusal.ts";
import { createToken, getToken, listTokens, revokeToken, rotateToken } from "../../services/tokens.ts";
import { byId, checked, nothing, withBody } from "../ask.ts";
import { flagIn, numberIn, textIn } from "../entered.ts";
import type { Asked, Form, Page, View } from "../page.ts";
import { Copied } from "../parts/copied.tsx";
import { CheckField, SelectField, TextField } from "../parts/field.tsx";
import { matching, NameFilter } from "../parts/name-filter.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { Ago } from "../parts/time.tsx";
import { removal } from "../removal.tsx";

const DAY_MS = 86_400_000;
const GRACES = [
  { value: "0", label: "ends at once" },
  { value: "3600", label: "is good for 1 hour more" },
  { value: "86400", label: "is good for 1 day more" },
];
const MAY: Record<(typeof ROLES)[number], string> = {
  viewer: "viewer: reads",
  member: "member: also runs, cancels and retries builds",
  maintainer: "maintainer: also changes variables, repositories, pipelines and agents",
  admin: "admin: also tokens and the audit log",
};

const Row = ({ of, now }: { of: Token; now: Date }) => (
  <tr data-row tabindex={-1}>
    <th scope="row">{of.name}</th>
    <td>{of.kind === "registration" ? "registers agents" : of.role}</td>
    <td data-label="last used">
      {of.lastUsedAt ? <Ago at={of.lastUsedAt} now={now} /> : <span class="hint">never</span>}
    </td>
    <td data-label="ends">{of.expiresAt ? <Ago at={of.expiresAt} now={now} /> : <span class="hint">never</span>}</td>
    <td>
      <span class="actions">
        <a class="button quiet" href={`/app/tokens/${of.id}/rotate`} aria-label={`Rotate ${of.name}`}>
          Rotate
        </a>
        <a class="button quiet" href={`/app/tokens/${of.id}/revoke`} aria-label={`Revoke ${of.name}`}>
          Revoke
        </a>
      </span>
    </td>
  </tr>
);

const CreateForm = ({ asked }: { asked: Asked }) => (
  <form method="post" class="stack">
    <TextField {...{ asked, name: "name", label: "Name", required: true, placeholder: "who or what uses it" }} />
    <SelectField
      {...{ asked, name: "role", label: "May do", value: "member" }}
      choices={ROLES.map((role) => ({ value: role, label: MAY[role] }))}
    />
    <TextField
      {...{ asked, name: "days", label: "Good for, in days", type: "number", min: 1, max: 3650, value: 90 }}
      hint="Leave it empty for a token without an end."
    />
    <button type="submit" class="primary">
      Make token
    </button>
  </form>
);

const page: Page = {
  path: "/tokens",
  role: "admin",
  async show(context, asked) {
    const all = await listTokens.run(context, nothing);
    const tokens = matching(all, asked.query, ({ name }) => [name]);
    return {
      ...{ title: "Tokens", section: "tokens" },
      body: (
        <>
          <ProblemNotice asked={asked} />
          <div class="head">
            <h1>Tokens</h1>
            <NameFilter path="/app/tokens" query={asked.query} label="Name" />
          </div>
          <div class="wide">
            <table>
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">May do</th>
                  <th scope="col">Last used</th>
                  <th scope="col">Ends</th>
                  <th scope="col">
                    <span class="sr">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {tokens.map((token) => (
                  <Row of={token} now={context.now} />
                ))}
              </tbody>
            </table>
          </div>
          <section class="column">
            <h2>Make a token</h2>
            <CreateForm asked={asked} />
          </section>
        </>
      ),
    };
  },
};

const shown = (name: string, token: string): View => ({
  ...{ title: "Token", section: "tokens" },
  body: (
    <div class="column">
      <h1>{name}</h1>
      <p>This is shown once. Keep it where secrets are kept.</p>
      <Copied text={token} />
      <p>
        <a href="/app/tokens">Back to the tokens</a>
      </p>
    </div>
  ),
});

const createForm: Form = {
  ...{ path: page.path, access: createToken.access, page },
  async act(context, { entered }) {
    const days = numberIn(entered, "days");
    const body = checked(createToken.body, {
      ...{ name: entered.get("name")?.trim() ?? "", kind: "api", role: textIn(entered, "role") },
      expiresAt: days === null ? null : endOf(context.now, days),
    });
    const { name, token } = await createToken.run(context, withBody(body));
    return shown(name, token);
  },
};

const MOST_DAYS = 3650;

/** @throws Refusal where the days are none */
const endOf = (now: Date, days: number): string => {
  if (days >= 1 && days <= MOST_DAYS) return new Date(now.getTime() + days * DAY_MS).toISOString();
  throw invalid("/days", `must be 1 to ${MOST_DAYS}`);
};

const rotatePage: Page = {
  path: "/tokens/:id/rotate",
  role: "admin",
  async show(context, asked) {
    const { name } = await getToken.run(context, byId(asked.params.id));
    return {
      ...{ title: `Rotate ${name}`, section: "tokens" },
      body: (
        <div class="column">
          <ProblemNotice asked={asked} />
          <h1>
            Rotate <bdi>{name}</bdi>?
          </h1>
          <p>It keeps its name and what it may do, and gets a new secret.</p>
          <form method="post" class="stack">
            <SelectField {...{ asked, name: "grace", label: "The old secret", value: "3600", choices: GRACES }} />
            <span class="actions">
              <button type="submit" class="primary">
                Rotate
              </button>
              <a class="button" href="/app/tokens">
                Keep it
              </a>
            </span>
          </form>
        </div>
      ),
    };
  },
};

const rotateForm: Form = {
  ...{ path: rotatePage.path, access: rotateToken.access, page: rotatePage },
  async act(context, { params, entered }) {
    const body = checked(rotateToken.body, { graceSeconds: numberIn(entered, "grace") });
    const { name, token } = await rotateToken.run(context, { ...byId(params.id), body });
    return shown(name, token);
  },
};

const revoke = removal({
  ...{ path: "/tokens/:id/revoke", section: "tokens", access: { role: "admin" }, verb: "revoke" },
  async ask(context, id, asked) {
    const { name } = await getToken.run(context, byId(id));
    const words =
      "Whoever uses it is refused from the next request on. Agents that it registered stay, unless you say so.";
    const choice = (
      <CheckField {...{ asked, name: "agents", label: "Remove the agents that it registered", on: false }} />
    );
    return { name, words, choice, back: "/app/tokens", to: "/app/tokens" };
  },
  remove: (context, id, entered) =>
    revokeToken.run(context, { ...byId(id), query: { agents: flagIn(entered, "agents") } }),
});

export const tokenPages: Page[] = [page, rotatePage, revoke.page];
export const tokenForms: Form[] = [createForm, rotateForm, revoke.form];
