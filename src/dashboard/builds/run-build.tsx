import { LIMITS } from "../../protocol/limits.ts";
import { PIPELINE_DEFAULTS, type Pipeline } from "../../protocol/pipeline.ts";
import type { Repository } from "../../protocol/repository.ts";
import { triggerBuild } from "../../services/builds/triggers.ts";
import { listPipelines } from "../../services/repositories/pipelines.ts";
import { listRepositories } from "../../services/repositories/repositories.ts";
import {
  AreaField,
  type Choice,
  readList,
  readNumber,
  readPairs,
  readRequiredText,
  readText,
  SecretField,
  SelectField,
  TextField,
} from "../parts/fields.tsx";
import { FormPage } from "../parts/form-page.tsx";
import { formOn, type Page, type PageRequest, type Pages } from "../shell/page-definition.ts";
import { noInput, parseBody, withBody } from "../shell/verb-input.ts";

const listChoices = (repositories: Repository[], pipelines: Pipeline[]): Choice[] => {
  const byRepository = Map.groupBy(pipelines, ({ repoId }) => repoId);
  return repositories
    .filter(({ isActive }) => isActive)
    .flatMap(({ id, fullName, defaultPipelineId }) => {
      const own = (byRepository.get(id) ?? []).filter(({ isActive }) => isActive);
      const file =
        defaultPipelineId === null ? [{ value: `repository:${id}`, label: PIPELINE_DEFAULTS.configPath }] : [];
      const pipelineChoices = own.map((pipeline) => ({ value: `pipeline:${pipeline.id}`, label: pipeline.name }));
      return [...file, ...pipelineChoices].map((choice) => ({ ...choice, group: fullName }));
    });
};

/**
 * Returns the target in the address, as `pipeline:ID` or `repository:ID`. A repository stands for its default pipeline.
 */
const chooseTarget = (query: URLSearchParams, repositories: Repository[]): string => {
  const pipelineId = query.get("pipelineId");
  if (pipelineId) return `pipeline:${pipelineId}`;
  const repository = repositories.find(({ id }) => id === query.get("repoId")) ?? repositories[0];
  if (!repository) return "";
  return repository.defaultPipelineId ? `pipeline:${repository.defaultPipelineId}` : `repository:${repository.id}`;
};

const findDefaultBranch = (target: string, repositories: Repository[], pipelines: Pipeline[]): string => {
  const [, id = ""] = target.split(":");
  const repoId = pipelines.find((pipeline) => pipeline.id === id)?.repoId ?? id;
  return repositories.find((repository) => repository.id === repoId)?.defaultBranch ?? "main";
};

const RunFields = ({ request }: { request: PageRequest }) => (
  <>
    <TextField
      request={request}
      name="commitSha"
      label="Commit"
      hint="The full hash. Leave empty for the branch's newest commit."
    />
    <AreaField
      request={request}
      name="envVariables"
      label="Variables for this build"
      placeholder="NAME=value"
      hint="One NAME=value per line. These override stored variables that allow it."
    />
    <SecretField
      request={request}
      name="secretVariables"
      label="Secrets for this build"
      placeholder="NAME=value"
      hint="One NAME=value per line. Masked in the log and never shown."
    />
    <TextField request={request} name="labels" label="Required agent labels" hint="Separated by commas." />
    <TextField
      request={request}
      name="priority"
      label="Priority"
      type="number"
      min={-LIMITS.priority}
      max={LIMITS.priority}
      value={0}
      hint={`-${LIMITS.priority} to ${LIMITS.priority}. Higher priorities run first.`}
    />
  </>
);

const page: Page = {
  path: "/builds/new",
  role: "member",
  async show(context, request) {
    const [repositories, pipelines] = await Promise.all([
      listRepositories.run(context, noInput),
      listPipelines.run(context, noInput),
    ]);
    const target = chooseTarget(request.query, repositories);
    return {
      title: "Run a build",
      section: "builds",
      body: (
        <FormPage heading="Run a build" request={request} submit="Run build">
          <SelectField
            request={request}
            name="what"
            label="Pipeline"
            value={target}
            choices={listChoices(repositories, pipelines)}
          />
          <TextField
            request={request}
            name="branch"
            label="Branch or tag"
            required
            value={findDefaultBranch(target, repositories, pipelines)}
            hint="A branch name, or a tag's full name, such as refs/tags/v2.3."
          />
          <RunFields request={request} />
        </FormPage>
      ),
    };
  },
};

const form = formOn(page, triggerBuild, async (context, { form }) => {
  const [kind, id] = (form.get("what") ?? "").split(":");
  const secrets = readPairs(form, "secretVariables");
  const body = parseBody(triggerBuild.body, {
    ...(kind === "pipeline" ? { pipelineId: id } : { repoId: id }),
    branch: readRequiredText(form, "branch"),
    commitSha: readText(form, "commitSha"),
    envVariables: Object.fromEntries([...readPairs(form, "envVariables"), ...secrets]),
    secretKeys: secrets.map(([key]) => key),
    labels: readList(form, "labels"),
    priority: readNumber(form, "priority"),
  });
  const build = await triggerBuild.run(context, withBody(body));
  return { to: `/app/builds/${build.id}`, notice: "triggered" };
});

export const runBuildPages: Pages = [page, form];
