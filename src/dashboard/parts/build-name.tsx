import type { Owners } from "../../services/builds/build-surroundings.ts";

export const repositoryName = ({ repository }: Pick<Owners, "repository">): string =>
  repository?.fullName ?? "removed repository";

/** Shows a build's number, its repository and its pipeline, in a heading. */
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
