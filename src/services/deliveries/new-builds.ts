import { branchOf } from "../../domain/git-ref.ts";
import { mergeRequires } from "../../domain/requires.ts";
import type { Arrival } from "../../githosts/core/arrival.ts";
import { chooseHostTarget } from "../../githosts/core/build-origin.ts";
import type { OpenPull, WantedBuild } from "../../githosts/core/effect-facts.ts";
import type { RequestedBuild } from "../../queue/commands/commands.ts";
import type { ConnectionRow } from "../connections/host-access.ts";
import { actorOf, type Context } from "../core/context.ts";
import type { PipelineRow, RepositoryRow } from "./arrival-rows.ts";

interface Source {
  connection: ConnectionRow;
  repository: RepositoryRow;
  pipelines: PipelineRow[];
  arrival: Arrival;
}

const commitOf = (arrival: Arrival) => ("commit" in arrival ? arrival.commit : null);

/** Returns the pull request's source branch, or the fork's branch if the pull request comes from a fork. */
const headBranch = (arrival: Arrival, { number, ref }: OpenPull): string =>
  arrival.kind === "pull" && arrival.pull.number === number ? arrival.pull.branch : branchOf(ref);

/** Returns a wanted build in the form that the pool accepts. */
const newBuild = (
  context: Context,
  { connection, repository, arrival }: Source,
  pipeline: PipelineRow,
  wantedBuild: WantedBuild,
): RequestedBuild => {
  const { event, ref, sha, before, pull, purpose, undecidedPaths, supersedes, trust, needsApproval } = wantedBuild;
  const id = context.newId();
  return {
    id,
    orgId: context.orgId,
    repoId: repository.id,
    pipelineId: pipeline.id,
    pipelineVersion: pipeline.version,
    branch: branchOf(ref),
    commitSha: sha,
    // Agents of earlier releases know only this value.
    trigger: "api",
    priority: 0,
    requires: mergeRequires(pipeline.requires, {}) ?? pipeline.requires,
    timeoutSeconds: pipeline.timeoutSeconds,
    maxParallel: pipeline.maxParallel,
    maxAttempts: pipeline.maxAttempts,
    inputs: null,
    secretKeys: [],
    retryOf: null,
    createdBy: { kind: "connection", id: connection.id, name: connection.name },
    origin: {
      event,
      before,
      pull: pull && {
        number: pull.number,
        base: pull.base,
        branch: headBranch(arrival, pull),
        title: pull.title,
        author: pull.author,
      },
      // GitHub and Gitea send no commit with a pull request. Lists then show the pull request's title and author.
      commit: commitOf(arrival) ?? (pull && { subject: pull.title, author: pull.author }),
      schedule: null,
      paths: undecidedPaths,
      purpose,
    },
    host: chooseHostTarget(repository, pipeline, event, context.origin),
    idempotency: null,
    actor: actorOf(context),
    supersedes,
    ...(trust === "untrusted" && { trust, needsApproval }),
  };
};

/** Returns the wanted builds, in their order. */
export const newBuilds = (context: Context, source: Source, wantedBuilds: WantedBuild[]): RequestedBuild[] =>
  wantedBuilds.flatMap((one) => {
    const pipeline = source.pipelines.find(({ id }) => id === one.pipelineId);
    return pipeline ? [newBuild(context, source, pipeline, one)] : [];
  });
