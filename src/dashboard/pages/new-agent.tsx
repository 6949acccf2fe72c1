import type { Context } from "../../services/core/context.ts";
import { createToken } from "../../services/tokens.ts";
import { Copyable } from "../components/copyable.tsx";
import { SelectField, TextField } from "../components/fields.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { readList } from "../form-fields.ts";
import type { Form, FormRequest, Page, PageRequest, View } from "../page-definition.ts";
import { hasRole } from "../permissions.ts";
import { parseBody, withBody } from "../verb-input.ts";

const HOURS = [
  { value: "1", label: "1 hour" },
  { value: "24", label: "1 day" },
  { value: "168", label: "1 week" },
];
const HOUR_MS = 60 * 60 * 1000;

/** What to type on the machine, word for word. The token goes in by standard input, out of sight of `ps`. */
const commandsOf = (origin: string, token: string, labels: string[]) => {
  const granted = labels.length > 0 ? ` --labels ${labels.join(",")}` : "";
  return [
    `curl -fsSo millrace-agent.mjs ${origin}/agent.mjs`,
    `printf '%s\\n' '${token}' | node millrace-agent.mjs register --url ${origin} --token-file - --name "$(hostname -s)"${granted}`,
    "node millrace-agent.mjs start",
  ].join("\n");
};

const Ask = ({ request }: { request: PageRequest }) => (
  <form method="post" class="stack">
    <TextField
      request={request}
      name="labels"
      label="Labels it may carry"
      placeholder="xcode-16, big"
      hint="What builds can ask for by name, with commas between. Leave it empty for none."
    />
    <SelectField request={request} name="hours" label="The token is good for" value="24" choices={HOURS} />
    <button type="submit" class="primary">
      Make a registration token
    </button>
  </form>
);

const frame = (body: View["body"]): View => ({
  title: "Add an agent",
  section: "agents",
  body: (
    <div class="column">
      <h1>Add an agent</h1>
      {body}
    </div>
  ),
});

const Made = ({ origin, token, labels }: { origin: string; token: string; labels: string[] }) => (
  <>
    <p>
      On the Mac or Linux machine, with Node 20.9 or newer and git. These lines hold the token, which is shown this
      once:
    </p>
    <Copyable text={commandsOf(origin, token, labels)} />
    <h2>To keep it running</h2>
    <p>
      On Linux this writes a systemd service, on a Mac a launch agent, and says what to run next. The agent then starts
      with the machine:
    </p>
    <Copyable text="node millrace-agent.mjs install --write" />
    <p class="hint">
      Steps run as the user who starts the agent. As root on Linux, <code>--run-as USER</code> with <code>start</code>{" "}
      keeps them apart.
    </p>
    <p>
      <a href="/app/agents">See it appear among the agents</a>
    </p>
  </>
);

const page: Page = {
  path: "/agents/new",
  role: "maintainer",
  async show(context, request) {
    await context.admit();
    if (!hasRole(context, "admin")) return frame(<p>Only an admin makes registration tokens: ask one for it.</p>);
    return frame(
      <>
        <ProblemNotice request={request} />
        <p>A machine becomes an agent with a registration token, which can do nothing else.</p>
        <Ask request={request} />
      </>,
    );
  },
};

const make = async (context: Context, { form, origin }: FormRequest): Promise<View> => {
  const labels = [...new Set(readList(form, "labels"))];
  const hours = HOURS.find(({ value }) => value === form.get("hours"))?.value ?? "24";
  const expiresAt = new Date(context.now.getTime() + Number(hours) * HOUR_MS).toISOString();
  const body = parseBody(createToken.body, { name: "new agent", kind: "registration", labels, expiresAt });
  const { token } = await createToken.run(context, withBody(body));
  return frame(<Made origin={origin} token={token} labels={labels} />);
};

const form: Form = { path: page.path, access: createToken.access, page, submit: make };

export const newAgentPages = [page];
export const newAgentForms = [form];
