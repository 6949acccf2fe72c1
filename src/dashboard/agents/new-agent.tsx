import { HOUR_MS } from "../../protocol/units.ts";
import { createToken } from "../../services/tokens/tokens.ts";
import { Copyable } from "../parts/copied-code.tsx";
import { readList, SelectField, TextField } from "../parts/fields.tsx";
import { ProblemNotice, StackedForm } from "../parts/form-page.tsx";
import { formOn, hasRole, type Page, type PageRequest, type View } from "../shell/page-definition.ts";
import { parseBody, withBody } from "../shell/verb-input.ts";

const HOURS = [
  { value: "1", label: "1 hour" },
  { value: "24", label: "1 day" },
  { value: "168", label: "1 week" },
];

/** Returns the commands for the machine. They pipe the token into the agent, because `ps` shows arguments. */
const commandsFor = (origin: string, token: string, labels: string[]) => {
  const labelOption = labels.length > 0 ? ` --labels ${labels.join(",")}` : "";
  return [
    `curl -fsSo millrace-agent.mjs ${origin}/agent.mjs`,
    `printf '%s\\n' '${token}' | node millrace-agent.mjs register --url ${origin} --token-file - --name "$(hostname -s)"${labelOption}`,
    "node millrace-agent.mjs start",
  ].join("\n");
};

const toView = (body: View["body"]): View => ({
  title: "Add an agent",
  section: "agents",
  body: (
    <div class="column">
      <h1>Add an agent</h1>
      {body}
    </div>
  ),
});

const TokenForm = ({ request }: { request: PageRequest }) => (
  <>
    <ProblemNotice request={request} />
    <p>Create a registration token, which can only register agents. Then run three commands on the machine.</p>
    <StackedForm submit="Create registration token">
      <TextField
        request={request}
        name="labels"
        label="Labels"
        placeholder="xcode-16, big"
        hint="Builds can require labels. The agent can have only these. Separate them with commas, or leave the field empty."
      />
      <SelectField request={request} name="hours" label="Token valid for" value="24" choices={HOURS} />
    </StackedForm>
  </>
);

const Instructions = ({ commands }: { commands: string }) => (
  <>
    <p>
      Run these commands on the Mac or Linux machine. It needs Node 20.9 or newer, and git. The commands contain the
      token, which is shown only once:
    </p>
    <Copyable text={commands} />
    <h2>Keep it running</h2>
    <p>
      This writes a systemd service on Linux, or a launch agent on a Mac, and prints the command to run next. The agent
      then starts with the machine:
    </p>
    <Copyable text="node millrace-agent.mjs install --write" />
    <p class="hint">
      Steps run as the user who starts the agent. When root starts it on Linux, <code>start --run-as USER</code> runs
      them as another user.
    </p>
    <p>
      <a href="/app/agents">See it in the fleet</a>
    </p>
  </>
);

const page: Page = {
  path: "/agents/new",
  role: "maintainer",
  async show(context, request) {
    await context.admit();
    return toView(
      hasRole(context, "admin") ? (
        <TokenForm request={request} />
      ) : (
        <p>Only an admin can create registration tokens. Ask an admin of your organization to create one.</p>
      ),
    );
  },
};

const form = formOn(page, createToken, async (context, { form, origin }) => {
  const labels = [...new Set(readList(form, "labels"))];
  const hours = HOURS.find(({ value }) => value === form.get("hours"))?.value ?? "24";
  const expiresAt = new Date(context.now.getTime() + Number(hours) * HOUR_MS).toISOString();
  const body = parseBody(createToken.body, { name: "new agent", kind: "registration", labels, expiresAt });
  const { token } = await createToken.run(context, withBody(body));
  return toView(<Instructions commands={commandsFor(origin, token, labels)} />);
});

export const newAgentPages = [page, form];
