import type { Hono } from "hono";
import type { Build } from "../../protocol/build.ts";
import { Branch } from "../../protocol/repository.ts";
import { listAgents } from "../../services/agents/agents.ts";
import { listBuilds } from "../../services/builds/build-list.ts";
import type { Context } from "../../services/core/context.ts";
import { listPipelines } from "../../services/repositories/pipelines.ts";
import { listRepositories } from "../../services/repositories/repositories.ts";
import { listGroups } from "../../services/variables/groups.ts";
import { listVariables } from "../../services/variables/variables.ts";
import type { AppEnv } from "../../web/app-env.ts";
import { platformTitle } from "../agents/agent-list.ts";
import { wordOf } from "../parts/state.tsx";
import { openRequest } from "../shell/open-request.ts";
import { hasRole } from "../shell/page-definition.ts";
import { namesById } from "../shell/verb-input.ts";
import { ownerChoices, ownerKey } from "../variables/variable-table.tsx";
import type { PaletteRow } from "./row.ts";

/** The maximum number of rows of each kind. The pages list all records. */
const MOST = 100;
const MOST_BUILDS = 30;
const MOST_FOUND = 8;
const HASH = /^[0-9a-f]{4,64}$/;

type Names = Record<"repositories" | "pipelines", Map<string, string>>;

const input = <Q>(query: Q) => ({ params: undefined, query, body: undefined });

const row = (kind: PaletteRow["kind"], name: string, note: string, path: string): PaletteRow => ({
  kind,
  name,
  note,
  href: `/app/${path}`,
});

const buildRow = (build: Build, { repositories, pipelines }: Names): PaletteRow => {
  const { id, number, repoId, pipelineId, branch, tag, commitSha, subject, status } = build;
  const owners = [repositories.get(repoId), pipelines.get(pipelineId ?? "")].filter((name) => name !== undefined);
  const note = [wordOf(status), tag ?? branch, commitSha?.slice(0, 7), subject].filter(Boolean).join(" ");
  return row("build", `#${number} ${owners.join(" / ")}`, note, `builds/${id}`);
};

const readTargets = async (context: Context) => {
  const [repositories, pipelines] = await Promise.all([
    listRepositories.run(context, input({ limit: MOST })),
    listPipelines.run(context, input({ limit: MOST })),
  ]);
  const names: Names = {
    repositories: namesById(repositories, ({ fullName }) => fullName),
    pipelines: namesById(pipelines, ({ name }) => name),
  };
  return { repositories, pipelines, names };
};

/** Returns the newest builds, and up to a hundred records of each other kind: at most 530 rows. */
const everything = async (context: Context): Promise<PaletteRow[]> => {
  const [{ repositories, pipelines, names }, builds, variables, groups, agents] = await Promise.all([
    readTargets(context),
    listBuilds.run(context, input({ limit: MOST_BUILDS })),
    listVariables.run(context, input({ limit: MOST, includeInactive: false })),
    listGroups.run(context, input({ limit: MOST, includeVariables: false })),
    listAgents.run(context, input({ limit: MOST })),
  ]);
  const choices = ownerChoices({ orgId: context.orgId, groups, repositories, pipelines });
  const owners = new Map(choices.map(({ value, label }) => [value, label]));
  const ofPipeline = pipelines.map((pipeline) => ({
    ...pipeline,
    whole: `${names.repositories.get(pipeline.repoId) ?? ""} / ${pipeline.name}`,
  }));
  return [
    ...builds.map((build) => buildRow(build, names)),
    ...ofPipeline.map(({ id, whole }) => row("pipeline", whole, "", `pipelines/${id}`)),
    ...(hasRole(context, "member") ? ofPipeline : []).map(({ id, whole }) =>
      row("run", `Run ${whole}`, "", `builds/new?pipelineId=${id}`),
    ),
    ...repositories.map(({ id, fullName }) => row("repository", fullName, "", `repositories/${id}`)),
    ...agents.map((agent) =>
      row("agent", agent.name, platformTitle(agent), `agents?q=${encodeURIComponent(agent.name)}`),
    ),
    ...variables.map((each) => row("variable", each.key, owners.get(ownerKey(each)) ?? "", `variables/${each.id}`)),
    ...groups.map(({ id, name, description }) => row("group", name, description ?? "", `groups/${id}`)),
  ];
};

/** Returns the builds of this branch or tag, and of commits whose hash begins with the word. */
const findBuilds = async (context: Context, word: string): Promise<PaletteRow[]> => {
  const limit = MOST_FOUND;
  const [{ names }, ofRef, ofCommit] = await Promise.all([
    readTargets(context),
    listBuilds.run(context, input({ limit, refName: word })),
    HASH.test(word) ? listBuilds.run(context, input({ limit, commitSha: word })) : [],
  ]);
  return [...ofCommit, ...ofRef].map((build) => buildRow(build, names));
};

/** Finds everything that the palette knows by name. For a word, finds builds instead. */
const paletteRows = (context: Context, word: string): Promise<PaletteRow[]> =>
  word === "" ? everything(context) : findBuilds(context, word);

/** Serves the palette's rows as JSON: `{ rows }`. A word that cannot be a branch finds nothing. */
export const mountPaletteRoute = (app: Hono<AppEnv>): void => {
  app.get("/palette", async (c) => {
    const context = await openRequest(c, { role: "viewer" }, false);
    const word = (c.req.query("q") ?? "").trim();
    const rows = word === "" || Branch.safeParse(word).success ? await paletteRows(context, word) : [];
    return c.json({ rows });
  });
};
