import { ROLES, type Token } from "../../protocol/token.ts";
import { Refusal } from "../../services/core/refusal.ts";
import { createToken, getToken, listTokens, revokeToken, rotateToken } from "../../services/tokens.ts";
import { Copyable } from "../components/copyable.tsx";
import { CheckField, SelectField, TextField } from "../components/fields.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { filterByText, TextFilter } from "../components/text-filter.tsx";
import { RelativeTime } from "../components/time.tsx";
import { confirmRemoval } from "../confirm-removal.tsx";
import { readFlag, readNumber, readText } from "../form-fields.ts";
import type { Form, Page, PageRequest, View } from "../page-definition.ts";
import { byId, noInput, parseBody, withBody } from "../verb-input.ts";

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
      {of.lastUsedAt ? <RelativeTime at={of.lastUsedAt} now={now} /> : <span class="hint">never</span>}
    </td>
    <td data-label="ends">
      {of.expiresAt ? <RelativeTime at={of.expiresAt} now={now} /> : <span class="hint">never</span>}
    </td>
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

const CreateForm = ({ request }: { request: PageRequest }) => (
  <form method="post" class="stack">
    <TextField request={request} name="name" label="Name" required placeholder="who or what uses it" />
    <SelectField
      request={request}
      name="role"
      label="May do"
      value="member"
      choices={ROLES.map((role) => ({ value: role, label: MAY[role] }))}
    />
    <TextField
      request={request}
      name="days"
      label="Good for, in days"
      type="number"
      min={1}
      max={3650}
      value={90}
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
  async show(context, request) {
    const all = await listTokens.run(context, noInput);
    const tokens = filterByText(all, request.query, ({ name }) => [name]);
    return {
      title: "Tokens",
      section: "tokens",
      body: (
        <>
          <ProblemNotice request={request} />
          <div class="head">
            <h1>Tokens</h1>
            <TextFilter path="/app/tokens" query={request.query} label="Name" />
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
            <CreateForm request={request} />
          </section>
        </>
      ),
    };
  },
};

const shown = (name: string, token: string): View => ({
  title: "Token",
  section: "tokens",
  body: (
    <div class="column">
      <h1>{name}</h1>
      <p>This is shown once. Keep it where secrets are kept.</p>
      <Copyable text={token} />
      <p>
        <a href="/app/tokens">Back to the tokens</a>
      </p>
    </div>
  ),
});

const createForm: Form = {
  path: page.path,
  access: createToken.access,
  page,
  async submit(context, { form }) {
    const days = readNumber(form, "days");
    const body = parseBody(createToken.body, {
      name: form.get("name")?.trim() ?? "",
      kind: "api",
      role: readText(form, "role"),
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
  throw new Refusal("invalid", "The request is not valid: see errors.", {
    errors: [{ pointer: "/days", detail: `must be 1 to ${MOST_DAYS}` }],
  });
};

const rotatePage: Page = {
  path: "/tokens/:id/rotate",
  role: "admin",
  async show(context, request) {
    const { name } = await getToken.run(context, byId(request.params.id));
    return {
      title: `Rotate ${name}`,
      section: "tokens",
      body: (
        <div class="column">
          <ProblemNotice request={request} />
          <h1>
            Rotate <bdi>{name}</bdi>?
          </h1>
          <p>It keeps its name and what it may do, and gets a new secret.</p>
          <form method="post" class="stack">
            <SelectField request={request} name="grace" label="The old secret" value="3600" choices={GRACES} />
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
  path: rotatePage.path,
  access: rotateToken.access,
  page: rotatePage,
  async submit(context, { params, form }) {
    const body = parseBody(rotateToken.body, { graceSeconds: readNumber(form, "grace") });
    const { name, token } = await rotateToken.run(context, { ...byId(params.id), body });
    return shown(name, token);
  },
};

const revoke = confirmRemoval({
  path: "/tokens/:id/revoke",
  section: "tokens",
  access: { role: "admin" },
  verb: "revoke",
  async question(context, id, request) {
    const { name } = await getToken.run(context, byId(id));
    const consequences =
      "Whoever uses it is refused from the next request on. Agents that it registered stay, unless you say so.";
    const choice = (
      <CheckField request={request} name="agents" label="Remove the agents that it registered" on={false} />
    );
    return { name, consequences, choice, back: "/app/tokens", next: "/app/tokens" };
  },
  remove: (context, id, form) => revokeToken.run(context, { ...byId(id), query: { agents: readFlag(form, "agents") } }),
});

export const tokenPages: Page[] = [page, rotatePage, revoke.page];
export const tokenForms: Form[] = [createForm, rotateForm, revoke.form];
