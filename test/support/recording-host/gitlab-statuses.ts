import { type Call, json } from "./answers.ts";
import type { HostedJob, HostedRepository } from "./host-state.ts";

const EVENTS: Record<string, string> = { pending: "enqueue", success: "success", failed: "drop", canceled: "cancel" };
const isOpen = ({ status }: HostedJob): boolean => status === "pending" || status === "running";

/**
 * Sets a state on a commit, as GitLab's Ci::CreateCommitStatusService does: in the pipeline of the ref, or without one
 * in the newest pipeline of the commit. An unfinished job advances; an ended one is followed by another.
 */
export const postGitlabStatus = (
  call: Call,
  { id, defaultBranch = "main" }: HostedRepository,
  sha: string,
): Response => {
  const { place, body } = call;
  const ofCommit = place.jobs.filter((job) => job.repositoryId === id && job.sha === sha);
  const matching = ofCommit
    .filter((job) => body.ref === undefined || job.ref === body.ref)
    .filter((job) => body.pipeline_id === undefined || job.pipeline === body.pipeline_id);
  if (body.pipeline_id !== undefined && matching.length === 0)
    return json(404, { message: "404 Pipeline for pipeline_id, sha and ref Not Found" });
  const pipeline = matching.at(-1)?.pipeline ?? 7_000 + place.jobs.length;
  const ref = body.ref ?? matching.at(-1)?.ref ?? defaultBranch;
  const known = matching.find((job) => job.pipeline === pipeline && job.name === body.name && isOpen(job));
  const event = EVENTS[body.state];
  if (known?.status === body.state) {
    const reason = `(Reason(s): Status cannot transition via "${event}")`;
    return json(400, { message: `Cannot transition status via :${event} from :${known?.status} ${reason}` });
  }
  if (known) known.status = body.state;
  else place.jobs.push({ pipeline, repositoryId: id, sha, ref, name: body.name, status: body.state });
  place.statuses.push({ repositoryId: id, sha, body });
  return json(201, { id: place.statuses.length, status: body.state, name: body.name, ref, pipeline_id: pipeline });
};

/** Returns the newest job of each name. */
export const gitlabStatuses = ({ place, query }: Call, { id }: HostedRepository, sha: string): Response => {
  const found = place.jobs
    .filter((job) => job.repositoryId === id && job.sha === sha)
    .filter((job) => [null, job.ref].includes(query.get("ref")) && [null, job.name].includes(query.get("name")));
  const newest = new Map(found.map((job) => [`${job.ref} ${job.name}`, job]));
  return json(
    200,
    [...newest.values()].map(({ name, ref, status, pipeline }) => ({ name, ref, status, sha, pipeline_id: pipeline })),
  );
};
