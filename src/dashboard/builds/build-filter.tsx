import type * as z from "zod/mini";
import { type Build, BuildFilter } from "../../protocol/build.ts";
import { STATUSES } from "../../protocol/build-states.ts";
import { listAgents } from "../../services/agents/agents.ts";
import type { Context } from "../../services/core/context.ts";
import { EVENT_OPTIONS } from "../parts/build-origin.tsx";
import { filledFields, type ListFilter, readFilter, toTime } from "../parts/list-filter.tsx";
import { wordOf } from "../parts/state.tsx";
import { noInput } from "../shell/verb-input.ts";

const FILTERS = [
  ...["repoId", "pipelineId", "branch", "status", "commitSha", "event", "trigger"],
  ...["author", "pull", "since", "cursor"],
];

/** The form's words for a build's trigger, which is a first run or a retry. */
const TRIGGERS: Record<Build["trigger"], string> = { api: "without retries", retry: "retries only" };

interface ReadFilter extends ListFilter<z.output<typeof BuildFilter>> {
  /** Whether the page shows only some of the builds. */
  isFiltered: boolean;
}

/** Reads the build filters from the page's address. In the address, an agent's name stands for its id. */
export const readBuildFilter = async (context: Context, query: URLSearchParams): Promise<ReadFilter> => {
  const { agent: name, ...fields } = filledFields(query, [...FILTERS, "agent"]);
  // A person enters the name of a branch or a tag, or a pull request as #12.
  if (fields.branch) {
    fields.refName = fields.branch;
    delete fields.branch;
  }
  if (fields.pull) fields.pull = fields.pull.replace(/^#/, "");
  if (fields.since) fields.since = toTime(fields.since);
  const { filter, errors } = readFilter(BuildFilter, fields);
  const isFiltered = name !== undefined || Object.keys(fields).length > errors.length;
  if (!name) return { filter, errors, isFiltered };
  const [agent] = await listAgents.run(context, { ...noInput, query: { name } });
  const unknown = { pointer: "/agent", detail: "does not exist" };
  if (!agent) return { filter, errors: [...errors, unknown], isFiltered };
  return { filter: { ...filter, agentId: agent.id }, errors, isFiltered };
};

interface ChoiceProps {
  query: URLSearchParams;
  name: string;
  label: string;
  /** The label of the choice that filters nothing. */
  all: string;
  /** The values with their labels. */
  options: [string, string][];
}

const Choice = ({ query, name, label, all, options }: ChoiceProps) => (
  <label>
    <span class="sr">{label}</span>
    <select name={name}>
      <option value="">{all}</option>
      {options.map(([value, word]) => (
        <option value={value} selected={query.get(name) === value}>
          {word}
        </option>
      ))}
    </select>
  </label>
);

const Text = ({ query, name, label }: { query: URLSearchParams; name: string; label: string }) => (
  <label>
    <span class="sr">{label}</span>
    <input
      type="text"
      name={name}
      placeholder={label}
      value={query.get(name) ?? ""}
      data-key={name === "branch" ? "/" : undefined}
      spellcheck={false}
    />
  </label>
);

interface BuildFilterFormProps {
  query: URLSearchParams;
  repositories: Map<string, string>;
  /** Whether the form stays open on a narrow screen, which otherwise folds it. */
  isFiltered: boolean;
}

const Form = ({ query, repositories }: Omit<BuildFilterFormProps, "isFiltered">) => {
  const states = STATUSES.map((status): [string, string] => [status, wordOf(status)]);
  return (
    <form method="get" action="/app/builds" class="filter build-filter">
      <Choice query={query} name="repoId" label="Repository" all="All repositories" options={[...repositories]} />
      <Choice query={query} name="status" label="State" all="Any state" options={states} />
      <Choice query={query} name="event" label="Event" all="Any event" options={EVENT_OPTIONS} />
      <Choice query={query} name="trigger" label="Trigger" all="With retries" options={Object.entries(TRIGGERS)} />
      <Text query={query} name="branch" label="Branch or tag" />
      <Text query={query} name="pull" label="Pull request" />
      <Text query={query} name="author" label="Author" />
      <Text query={query} name="commitSha" label="Commit" />
      <Text query={query} name="agent" label="Agent" />
      {query.has("since") && <input type="hidden" name="since" value={query.get("since") ?? ""} />}
      {query.get("view") === "all" && <input type="hidden" name="view" value="all" />}
      <button type="submit">Filter</button>
    </form>
  );
};

/** Shows the form that filters the list of builds. */
export const BuildFilterForm = ({ isFiltered, ...form }: BuildFilterFormProps) => (
  <details class="filter-fold" id="filter" open={isFiltered}>
    <summary>Filter</summary>
    <Form {...form} />
  </details>
);
