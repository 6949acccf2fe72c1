import { PIPELINE_DEFAULTS, type Pipeline } from "../../protocol/pipeline.ts";
import type { Repository } from "../../protocol/repository.ts";
import { invalid } from "../../services/core/refusal.ts";
import { listPipelines } from "../../services/pipelines.ts";
import { listRepositories } from "../../services/repositories.ts";
import { triggerBuild } from "../../services/triggers.ts";
import { checked, nothing, withBody } from "../ask.ts";
import { numberIn, textIn, wordsIn } from "../entered.ts";
import type { Form, Page } from "../page.ts";
import { AreaField, type Choice, SecretField, SelectField, TextField } from "../parts/field.tsx";
import { ProblemNotice } from "../parts/problem.tsx";

const choicesOf = (repositories: Repository[], pipelines: Pipeline[]): Choice[] => {
  const byRepository = Map.groupBy(pipelines, ({ repoId }) => repoId);
  return repositories
    .filter(({ isActive }) => isActive)
    .flatMap(({ id, fullName, defaultPipelineId }) => {
      const own = (byRepository.get(id) ?? []).filter(({ isActive }) => isActive);
      const file =
        defaultPipelineId === null ? [{ value: `repository:${id}`, label: PIPELINE_DEFAULTS.configPath }] : [];
      const named = own.map((pipeline) => ({ value: `pipeline:${pipeline.id}`, label: pipeline.name }));
      return [...file, ...named].map((choice) => ({ ...choice, group: fullName }));
    });
};

/** What the page was opened for: a pipeline, or a repository and so its default one. */
const wantedBy = (query: URLSearchParams, repositories: Repository[]): string => {
  const pipelineId = query.get("pipelineId");
  if (pipelineId) return `pipeline:${pipelineId}`;
  const repository = repositories.find(({ id }) => id === query.get("repoId")) ?? repositories[0];
  if (!repository) return "";
  return repository.defaultPipelineId ? `pipeline:${repository.defaultPipelineId}` : `repository:${repository.id}`;
};

const branchFor = (what: string, repositories: Repository[], pipelines: Pipeline[]): string => {
  const [, id = ""] = what.split(":");
  const repoId = pipelines.find((pipeline) => pipeline.id === id)?.repoId ?? id;
  return repositories.find((repository) => repository.id === repoId)?.defaultBranch ?? "main";
};

const page: Page = {
  path: "/builds/new",
  role: "member",
  async show(context, asked) {
    const [repositories, pipelines] = await Promise.all([
      listRepositories.run(context, nothing),
      listPipelines.run(context, nothing),
    ]);
    const what = wantedBy(asked.query, repositories);
    return {
      ...{ title: "Run a build", section: "builds" },
      body: (
        <div class="column">
          <h1>Run a build</h1>
          <ProblemNotice asked={asked} />
          <form method="post" class="stack">
            <SelectField
              {...{ asked, name: "what", label: "Pipeline", value: what, choices: choicesOf(repositories, pipelines) }}
            />
            <TextField
              {...{ asked, name: "branch", label: "Branch or tag", required: true }}
              value={branchFor(what, repositories, pipelines)}
              hint="A tag reads refs/tags/NAME."
            />
            <TextField
              {...{ asked, name: "commitSha", label: "Commit" }}
              hint="The whole hash. Leave it empty for the newest commit of the branch."
            />
            <AreaField
              {...{ asked, name: "envVariables", label: "Variables for this run", placeholder: "NAME=value" }}
              hint="One NAME=value a line. They win over every stored variable that allows it."
            />
            <SecretField
              {...{ asked, name: "secretVariables", label: "Secrets for this run", placeholder: "NAME=value" }}
              hint="The same, masked in the log and shown to nobody."
            />
            <TextField
              {...{ asked, name: "labels", label: "Labels the agent must have" }}
              hint="With commas between."
            />
            <TextField
              {...{ asked, name: "priority", label: "Priority", type: "number", min: -100, max: 100, value: 0 }}
              hint="-100 to 100: a higher one goes first."
            />
            <button type="submit" class="primary">
              Run build
            </button>
          </form>
        </div>
      ),
    };
  },
};

/** `NAME=value` lines. @throws Refusal with the line's number, never its text */
const pairsIn = (form: URLSearchParams, field: string): [string, string][] =>
  (form.get(field) ?? "").split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const at = line.indexOf("=");
    if (at > 0) return [[line.slice(0, at).trim(), line.slice(at + 1)] as [string, string]];
    throw invalid(`/${field}`, `line ${index + 1} does not have the form NAME=value`);
  });

const form: Form = {
  ...{ path: page.path, access: triggerBuild.access, page },
  async act(context, { entered }) {
    const [kind, id] = (entered.get("what") ?? "").split(":");
    const secrets = pairsIn(entered, "secretVariables");
    const body = checked(triggerBuild.body, {
      ...(kind === "pipeline" ? { pipelineId: id } : { repoId: id }),
      ...{ branch: entered.get("branch")?.trim() ?? "", commitSha: textIn(entered, "commitSha") },
      envVariables: Object.fromEntries([...pairsIn(entered, "envVariables"), ...secrets]),
      secretKeys: secrets.map(([key]) => key),
      ...{ labels: wordsIn(entered, "labels"), priority: numberIn(entered, "priority") },
    });
    const build = await triggerBuild.run(context, withBody(body));
    return { to: `/app/builds/${build.id}`, done: "triggered" };
  },
};

export const runBuildPages: Page[] = [page];
export const runBuildForms: Form[] = [form];
