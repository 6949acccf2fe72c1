import type { Artifact } from "../../protocol/artifact.ts";
import type { JobOfBuild } from "../../protocol/build-job.ts";
import { sizeText } from "../parts/format.ts";
import { Table } from "../parts/lists.tsx";
import { RelativeTime } from "../parts/time.tsx";

/** Returns the path of an artifact's page. The artifact's other addresses are below this path. */
export const artifactPath = (jobId: string, name: string): string =>
  `/app/artifacts/${jobId}/${encodeURIComponent(name)}`;

export const countOfFiles = (files: number): string => (files === 1 ? "1 file" : `${files} files`);

/**
 * Shows the artifacts that a build or a job stored, or nothing if it stored none. The table shows the names of `jobs`.
 */
export const Artifacts = ({
  artifacts,
  jobs,
  now,
}: {
  artifacts: Artifact[];
  jobs: Pick<JobOfBuild, "id" | "key">[];
  now: Date;
}) => {
  if (artifacts.length === 0) return null;
  const keys = new Map(jobs.map(({ id, key }) => [id, key]));
  return (
    <section class="part" id="artifacts">
      <h2>Artifacts</h2>
      <Table columns={["Name", ...(keys.size > 0 ? ["Job"] : []), "Files", "Size", "Expires", "Archive"]}>
        {artifacts.map(({ name, jobId, files, bytes, expiresAt }) => (
          <tr data-row tabindex={-1}>
            <td>
              <a href={artifactPath(jobId, name)}>
                <bdi>{name}</bdi>
              </a>
            </td>
            {keys.size > 0 && (
              <td>
                <bdi>{keys.get(jobId) ?? ""}</bdi>
              </td>
            )}
            <td>{countOfFiles(files)}</td>
            <td>{sizeText(bytes)}</td>
            <td>
              <RelativeTime at={expiresAt} now={now} />
            </td>
            <td>
              <a href={`${artifactPath(jobId, name)}/zip`} aria-label={`Download zip of ${name}`}>
                Download zip
              </a>
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
};
