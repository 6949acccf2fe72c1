import { expect } from "vitest";
import type { OpenedArtifact } from "../../src/protocol/artifact.ts";
import type { Job } from "../../src/protocol/jobs.ts";
import { call } from "./api.ts";
import { type Files, packed, sha256 } from "./artifact-files.ts";
import { callWithLease } from "./jobs.ts";

interface Sender {
  id: string;
  token: string;
}

/** The fields of a grant. Workers of the previous and the next release read it too. */
export const grantClaims = (grant: string): string[] =>
  Object.keys(JSON.parse(Buffer.from(grant.split(".")[0]!.slice("mrx_".length), "base64url").toString())).sort();

/** Opens an artifact with these files. */
export const openArtifact = (agent: Sender, job: Job, name: string, files: Files, more: object = {}) => {
  const { list, bytes } = packed(files);
  return callWithLease(agent, job, "POST", "artifact", {
    name,
    as: "files",
    bytes: bytes.length,
    files: list.length,
    ...more,
  });
};

export const sendPart = (
  agent: Sender,
  job: Job,
  { artifactId, grant }: Pick<OpenedArtifact, "artifactId" | "grant">,
  number: number | string,
  bytes: Uint8Array,
  headers: Record<string, string> = {},
) =>
  call(agent.token, "PUT", `/job/${job.job?.id ?? job.build.id}/artifact/${artifactId}/part/${number}`, bytes, {
    ...{ "X-Grant": grant, "X-Content-SHA256": sha256(bytes), "Content-Length": String(bytes.length) },
    ...headers,
  });

export const endArtifact = (
  agent: Sender,
  job: Job,
  { artifactId, grant }: Pick<OpenedArtifact, "artifactId" | "grant">,
  body: unknown,
) =>
  call(agent.token, "POST", `/job/${job.job?.id ?? job.build.id}/artifact/${artifactId}/done`, body, {
    ...{ "X-Grant": grant, "X-Lease": String(job.lease) },
  });

/** Sends an artifact with one part, as an agent does. @returns the answer to the opening */
export const sendArtifact = async (
  agent: Sender,
  job: Job,
  name: string,
  files: Files,
  more: object = {},
): Promise<OpenedArtifact> => {
  const opened = await openArtifact(agent, job, name, files, more);
  expect(opened, opened.text).toMatchObject({ status: 201 });
  const { list, bytes } = packed(files);
  const etags: string[] = [];
  if (opened.body.parts > 0) {
    const part = await sendPart(agent, job, opened.body, 1, bytes);
    expect(part, part.text).toMatchObject({ status: 200 });
    etags.push(part.body.etag);
  }
  const done = await endArtifact(agent, job, opened.body, { list, etags });
  expect(done, done.text).toMatchObject({ status: 200 });
  return opened.body;
};
