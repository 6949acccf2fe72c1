import { branchOf, tagOf } from "../../domain/git-ref.ts";
import { hostTargetOf } from "../../domain/githost/host-target.ts";
import type { PlannedBuild } from "../../domain/githost/plan-facts.ts";
import type { Context } from "../core/context.ts";
import type { ConnectionRow } from "../host-access.ts";
import type { PipelineRow, RepositoryRow } from "./arrival-rows.ts";

interface Rows {
  connection: ConnectionRow;
  repository: RepositoryRow;
  pipelines: PipelineRow[];
}

/** Tells the host's object which builds of a head there are not, so that the commit is not well without them. */
export const tellLeftOut = async (
  context: Context,
  { connection, repository, pipelines }: Rows,
  leftOut: PlannedBuild[],
): Promise<void> => {
  const [first] = leftOut;
  if (!first) return;
  const targets = leftOut.map(({ pipelineId, event }) =>
    hostTargetOf(
      repository,
      pipelines.find(({ id }) => id === pipelineId),
      event,
      context.origin,
    ),
  );
  const branch = branchOf(first.ref);
  await context.objects.gitHost(context.orgId, connection.id).leaveOut({
    ...{ repoId: repository.gitHostRepoId, fullName: repository.fullName, origin: context.origin },
    ...{ sha: first.sha, ref: tagOf(branch) ?? branch },
    contexts: targets.flatMap((target) => (target ? [target.context] : [])),
  });
};
