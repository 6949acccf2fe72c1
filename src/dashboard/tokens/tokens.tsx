import { ROLES, type Role, type Token } from "../../protocol/token.ts";
import { DAY_MS } from "../../protocol/units.ts";
import { invalid } from "../../services/core/refusal.ts";
import { createToken, getToken, listTokens, revokeToken, rotateToken } from "../../services/tokens/tokens.ts";
import { Copyable } from "../parts/copied-code.tsx";
import {
  CheckField,
  readFlag,
  readNumber,
  readRequiredText,
  readText,
  SelectField,
  TextField,
} from "../parts/fields.tsx";
import { ProblemNotice, StackedForm } from "../parts/form-page.tsx";
import { filterByText, TextFilter } from "../parts/list-filter.tsx";
import { Table } from "../parts/lists.tsx";
import { RelativeTime } from "../parts/time.tsx";
import { confirmRemoval } from "../shell/confirm-removal.tsx";
import { formOn, type Page, type PageRequest, type Pages, type View } from "../shell/page-definition.ts";
import { byId, noInput, parseBody, withBody } from "../shell/verb-input.ts";

const GRACES = [
  { value: "0", label: "expires at once" },
  { value: "3600", label: "expires in 1 hour" },
  { value: "86400", label: "expires in 1 day" },
];
const PERMISSIONS: Record<Role, string> = {
  viewer: "viewer: read",
  member: "member: also run, cancel and retry builds",
  maintainer: "maintainer: also change variables, repositories, pipelines and agents",
  admin: "admin: also manage tokens and read the audit log",
};
const MOST_DAYS = 3650;

const Row = ({ token, now }: { token: Token; now: Date }) => (
  <tr data-row data-end={`/app/tokens/${token.id}/revoke`} tabindex={-1}>
    <th scope="row">{token.name}</th>
    <td>{token.kind === "registration" ? "agent registration" : token.role}</td>
    <td data-label="last used">
      {token.lastUsedAt ? <RelativeTime at={token.lastUsedAt} now={now} /> : <span class="hint">never</span>}
    </td>
    <td data-label="expires">
      {token.expiresAt ? <RelativeTime at={token.expiresAt} now={now} /> : <span class="hint">never</span>}
    </td>
    <td>
      <span class="actions">
        <a class="button quiet" href={`/app/tokens/${token.id}/rotate`} aria-label={`Rotate ${token.name}`}>
          Rotate
        </a>
        <a class="button quiet" href={`/app/tokens/${token.id}/revoke`} aria-label={`Revoke ${token.name}`}>
          Revoke
        </a>
      </span>
    </td>
  </tr>
);

const CreateForm = ({ request }: { request: PageRequest }) => (
  <StackedForm submit="Create token">
    <TextField request={request} name="name" label="Name" required placeholder="the person or program that uses it" />
    <SelectField
      request={request}
      name="role"
      label="Role"
      value="member"
      choices={ROLES.map((role) => ({ value: role, label: PERMISSIONS[role] }))}
    />
    <TextField
      request={request}
      name="days"
      label="Valid for (days)"
      type="number"
      min={1}
      max={MOST_DAYS}
      value={90}
      hint="Leave the field empty for a token that does not expire."
    />
  </StackedForm>
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
          <Table columns={["Name", "Role", "Last used", "Expires", <span class="sr">Actions</span>]}>
            {tokens.map((token) => (
              <Row token={token} now={context.now} />
            ))}
          </Table>
          <section class="column">
            <h2>Create a token</h2>
            <CreateForm request={request} />
          </section>
        </>
      ),
    };
  },
};

const createdView = (name: string, token: string): View => ({
  title: "Token",
  section: "tokens",
  body: (
    <div class="column">
      <h1>{name}</h1>
      <p>The token is shown only once. Store it where you keep secrets.</p>
      <Copyable text={token} />
      <p>
        <a href="/app/tokens">Back to tokens</a>
      </p>
    </div>
  ),
});

const createForm = formOn(page, createToken, async (context, { form }) => {
  const days = readNumber(form, "days");
  const body = parseBody(createToken.body, {
    name: readRequiredText(form, "name"),
    kind: "api",
    role: readText(form, "role"),
    expiresAt: days === null ? null : expiryAfter(context.now, days),
  });
  const { name, token } = await createToken.run(context, withBody(body));
  return createdView(name, token);
});

/** Returns the expiry after this many days. @throws Refusal if the number of days is out of range */
const expiryAfter = (now: Date, days: number): string => {
  if (days >= 1 && days <= MOST_DAYS) return new Date(now.getTime() + days * DAY_MS).toISOString();
  throw invalid("/days", `must be 1 to ${MOST_DAYS}`);
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
          <p>The token keeps its name and role, and gets a new secret.</p>
          <form method="post" class="stack">
            <SelectField request={request} name="grace" label="Old secret" value="3600" choices={GRACES} />
            <span class="actions">
              <button type="submit" class="primary">
                Rotate
              </button>
              <a class="button" href="/app/tokens">
                Cancel
              </a>
            </span>
          </form>
        </div>
      ),
    };
  },
};

const rotateForm = formOn(rotatePage, rotateToken, async (context, { params, form }) => {
  const body = parseBody(rotateToken.body, { graceSeconds: readNumber(form, "grace") });
  const { name, token } = await rotateToken.run(context, { ...byId(params.id), body });
  return createdView(name, token);
});

const revoke = confirmRemoval({
  path: "/tokens/:id/revoke",
  section: "tokens",
  access: { role: "admin" },
  verb: "revoke",
  async question(context, id, request) {
    const { name } = await getToken.run(context, byId(id));
    const consequences =
      "Its next request is rejected. Agents that it registered stay connected, unless you remove them here.";
    const choice = (
      <CheckField request={request} name="agents" label="Remove the agents that it registered" on={false} />
    );
    return { name, consequences, choice, back: "/app/tokens", next: "/app/tokens" };
  },
  remove: (context, id, form) => revokeToken.run(context, { ...byId(id), query: { agents: readFlag(form, "agents") } }),
});

export const tokenPages: Pages = [page, rotatePage, ...revoke, createForm, rotateForm];
