import type { pipeline, repository } from "../db/schema.ts";
import { refOf, tagOf } from "../domain/git-ref.ts";
import type { BuildOrigin } from "../domain/githost/build-origin.ts";
import { readsBuildNumber } from "../domain/jobs/questions.ts";
import { parsePlan } from "../domain/plan/parse.ts";
import { planToExpand } from "../domain/plan/plan-of-job.ts";
import type { Planned } from "../domain/pool/commands.ts";
import type { BuildTrigger, Trust } from "../protocol/build.ts";
import type { Requires } from "../protocol/pipeline.ts";
import { attachedGroups, unopenable } from "./build-environment.ts";
import type { Context } from "./core/context.ts";
import { graphOf } from "./plan-graph.ts";
import { groupsOfPipeline, variablesOfBuild } from "./variable-scopes.ts";

interface Target {
  repository: typeof repository.$inferSelect;
  pipeline: typeof pipeline.$inferSelect | undefined;
}

type Asked = BuildTrigger & {
  id: string;
  branch: string;
  requires: Requires;
  timeoutSeconds: number;
  madeBy: BuildOrigin | null;
  isRetry: boolean;
  trust: Trust;
};

/**
 * The jobs of a definition that stands in the pipeline's record, for a commit that is named: no agent has to read it.
 * Null where an agent has to, as for every untrusted build: it also tells what is wrong with a definition.
 */
export const plannedAtTrigger = async (context: Context, target: Target, asked: Asked): Promise<Planned | null> => {
  const definition = target.pipeline?.definition ?? null;
  const { id, branch, commitSha, requires, timeoutSeconds, madeBy, isRetry, trust } = asked;
  if (trust === "untrusted" || definition === null || !commitSha) return null;
  const plan = planToExpand(parsePlan(definition).plan);
  // Only the pool knows the number of a new build: an agent plans the jobs that may read it.
  if (!plan || readsBuildNumber(plan)) return null;
  const { sql } = context.db;
  const pipelineId = target.pipeline?.id ?? null;
  const [rows, groups] = await context.db.run(
    variablesOfBuild(sql, context.orgId, target.repository.id, pipelineId),
    groupsOfPipeline(sql, context.orgId, pipelineId),
  );
  const run = { run: asked.envVariables ?? {}, secretKeys: asked.secretKeys ?? [] };
  const of = {
    ...{ text: definition, path: null, requires, timeoutSeconds, changed: {} },
    build: {
      ...{ id, number: 0, branch, commit: commitSha, message: madeBy?.commit?.subject ?? null },
      ...{ trigger: isRetry ? "retry" : "api", event: madeBy?.event ?? "api", ref: refOf(branch), tag: tagOf(branch) },
      ...{ pull: null, base: null, schedule: madeBy?.schedule ?? null, trusted: true },
    },
  };
  try {
    const found = { ...target, rows, groups: attachedGroups(groups), ...run };
    const { graph } = await graphOf(context, of, found);
    return graph ? { graph, text: definition, adopted: {} } : null;
  } catch (error) {
    if (unopenable(error) !== null) return null;
    throw error;
  }
};
