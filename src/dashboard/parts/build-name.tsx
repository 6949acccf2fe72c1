import type { Build } from "../../protocol/build.ts";
import type { Pipeline } from "../../protocol/pipeline.ts";
import type { Repository } from "../../protocol/repository.ts";
import type { Context } from "../../services/core/context.ts";
import { listPipelines } from "../../services/repositories/pipelines.ts";
import { listRepositories } from "../../services/repositories/repositories.ts";
import { noInput } from "../shell/verb-input.ts";

/** What a build belongs to; undefined where it was removed. */
export interface Owners {
  repository: Repository | undefined;
  pipeline: Pipeline | undefined;
}

/** Finds what the build belongs to, which may have to be read itself. */
export const readOwners = async (context: Context, reading: Promise<Build>): Promise<Owners> => {
  const [{ repoId, pipelineId }, repositories, pipelines] = await Promise.all([
    reading,
    listRepositories.run(context, noInput),
    listPipelines.run(context, noInput),
  ]);
  return {
    repository: repositories.find(({ id }) => id === repoId),
    pipeline: pipelines.find(({ id }) => id === pipelineId),
  };
};

export const repoNameOf = ({ repository }: Owners): string => repository?.fullName ?? "removed repository";

/** The number of a build, its repository and its pipeline, in a heading. */
export const BuildName = ({ number, href, ...owners }: Owners & { number: number; href?: string }) => {
  const { repository, pipeline } = owners;
  const shown = <span class="number">#{number}</span>;
  return (
    <>
      {href ? <a href={href}>{shown}</a> : shown}{" "}
      {repository ? <a href={`/app/repositories/${repository.id}`}>{repository.fullName}</a> : repoNameOf(owners)}
      {pipeline && (
        <>
          {" / "}
          <a href={`/app/pipelines/${pipeline.id}`}>{pipeline.name}</a>
        </>
      )}
    </>
  );
};
