import type { Build } from "../../protocol/build.ts";
import type { Pipeline } from "../../protocol/pipeline.ts";
import type { Repository } from "../../protocol/repository.ts";
import type { Context } from "../../services/core/context.ts";
import { nullIfNotFound } from "../../services/core/refusal.ts";
import { getPipeline } from "../../services/repositories/pipelines.ts";
import { getRepository } from "../../services/repositories/repositories.ts";
import { byId } from "../shell/verb-input.ts";

/** What a build belongs to; null where it was removed. */
export interface Owners {
  repository: Repository | null;
  pipeline: Pipeline | null;
}

/** Reads what a build belongs to. */
export const readOwners = async (context: Context, { repoId, pipelineId }: Build): Promise<Owners> => {
  const [repository, pipeline] = await Promise.all([
    nullIfNotFound(getRepository.run(context, byId(repoId))),
    pipelineId === null ? null : nullIfNotFound(getPipeline.run(context, byId(pipelineId))),
  ]);
  return { repository, pipeline };
};

export const repositoryName = ({ repository }: Pick<Owners, "repository">): string =>
  repository?.fullName ?? "removed repository";

/** The number of a build, its repository and its pipeline, in a heading. */
export const BuildName = ({ number, href, ...owners }: Owners & { number: number; href?: string }) => {
  const { repository, pipeline } = owners;
  const text = <span class="number">#{number}</span>;
  return (
    <>
      {href ? <a href={href}>{text}</a> : text}{" "}
      {repository ? <a href={`/app/repositories/${repository.id}`}>{repository.fullName}</a> : repositoryName(owners)}
      {pipeline && (
        <>
          {" / "}
          <a href={`/app/pipelines/${pipeline.id}`}>{pipeline.name}</a>
        </>
      )}
    </>
  );
};
