import { listGrantedFiles, requestDownloads } from "../../services/artifact-downloads.ts";
import { shareArtifact } from "../../services/artifact-shares.ts";
import { finishArtifact, openArtifact } from "../../services/artifact-uploads.ts";
import { getArtifact, listArtifacts, removeArtifact } from "../../services/artifacts.ts";
import { downloadFile, downloadZip } from "../../web/artifact-files.ts";
import { downloadArtifact, sendPart } from "../byte-streams.ts";
import { act, type Documentation, describing, get, post, put, type Route, remove } from "./route.ts";

const BYTES: Documentation["text"] = { types: ["application/octet-stream"], alone: true };
const OF_RANGE = { 206: "The bytes of the `Range`", 416: "There are not these bytes" };

/** What jobs leave, and what later jobs and people take of it. */
export const ARTIFACT_ROUTES: Route[] = [
  post(
    "/job/:id/artifact",
    { openArtifact },
    describing && {
      tag: "Agent protocol",
      summary: "Begin an artifact of a job",
      description:
        "`id` is that of the job, or of a build of one job. The sizes are final. The same call again has the same `artifactId` with a fresh grant, also to go on after a grant has expired. Where the sizes changed it is another artifact, and what was sent before is dropped.",
      headers: ["Lease"],
      problems: ["lease-lost", "conflict", "limit-reached"],
    },
  ),
  put(
    "/job/:id/artifact/:artifactId/part/:part",
    { sendPart },
    describing && {
      tag: "Agent protocol",
      summary: "Send a part of an artifact",
      description:
        "Parts are numbered from 1. All but the last have `partBytes` bytes. A part may be sent again; of an artifact with one part, only the same bytes.",
      headers: ["Grant", "ContentSha256"],
      problems: ["malformed-body", "conflict"],
      bytes: true,
    },
  ),
  act(
    "/job/:id/artifact/:artifactId/done",
    { finishArtifact },
    describing && {
      tag: "Agent protocol",
      summary: "Finish an artifact",
      description:
        "The service compares the list with the bytes that arrived. Others see the artifact once the job has ended under the same lease, as succeeded or failed. It may be repeated.",
      headers: ["Lease", "Grant"],
      problems: ["lease-lost", "conflict"],
    },
  ),
  act(
    "/job/:id/download",
    { requestDownloads },
    describing && {
      tag: "Agent protocol",
      summary: "Ask for what earlier jobs of the build left",
      description:
        "Only of jobs that this one needs, directly or through others. `from` is the key of a job in the file; a matrix has an entry for each combination.",
      headers: ["Lease"],
      problems: ["lease-lost", "conflict"],
    },
  ),
  get(
    "/artifact/:grant/list",
    { listGrantedFiles },
    describing && {
      tag: "Agent protocol",
      summary: "List the files of a granted artifact",
      description: "In the order of their bytes: the content has one file after the other.",
      problems: ["gone"],
    },
  ),
  get(
    "/artifact/:grant/content",
    { downloadArtifact },
    describing && {
      tag: "Agent protocol",
      summary: "Download a granted artifact",
      description: "The bytes of all its files, or a `Range` of them.",
      headers: ["Range"],
      problems: ["gone"],
      also: OF_RANGE,
      text: BYTES,
    },
  ),
  get(
    "/build/:id/artifact",
    { listBuildArtifacts: listArtifacts },
    describing && { tag: "Builds", summary: "List the artifacts of a build", description: "Those of all its jobs." },
    {
      ...{ path: "/job/:id/artifact", id: "listJobArtifacts" },
      words: describing && { summary: "List the artifacts of a job" },
    },
  ),
  get(
    "/job/:id/artifact/:name",
    { getArtifact },
    describing && {
      tag: "Builds",
      summary: "Get an artifact with its files",
      description: "`id` is that of the job, or of a build of one job.",
      problems: ["gone"],
    },
  ),
  get(
    "/job/:id/artifact/:name/content/:path",
    { downloadFile },
    describing && {
      tag: "Builds",
      summary: "Download a file of an artifact",
      headers: ["IfNoneMatch", "IfRange", "Range"],
      problems: ["gone"],
      also: { ...OF_RANGE, 304: "You have it: its ETag is in `If-None-Match`" },
      text: BYTES,
    },
  ),
  get(
    "/job/:id/artifact/:name/zip",
    { downloadZip },
    describing && {
      tag: "Builds",
      summary: "Download an artifact, or a folder of it, as a ZIP archive",
      problems: ["gone"],
      text: { types: ["application/zip"], alone: true },
    },
  ),
  act(
    "/job/:id/artifact/:name/share",
    { shareArtifact },
    describing && {
      tag: "Builds",
      summary: "Share an artifact for some hours",
      description:
        "Whoever has the address may download the artifact, or the file or folder `path` of it, without a token. It cannot be taken back but by deleting the artifact.",
      problems: ["gone"],
    },
  ),
  remove(
    "/job/:id/artifact/:name",
    { removeArtifact },
    describing && { tag: "Builds", summary: "Delete an artifact", description: "It cannot be undone." },
  ),
];
