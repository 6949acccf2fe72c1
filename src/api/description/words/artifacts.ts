import { byteSize, DEFAULTS, LIMITS, PERIODS, withCommas } from "../../../protocol/limits.ts";
import type { Words } from "./schema-words.ts";

const NAME = `Name, unique in its job: at most ${LIMITS.artifactNameCharacters} characters, none of " : < > | * ? / \\.`;
const BYTES = "Bytes of all its files.";

/** The schemas of what jobs leave. */
export const ARTIFACT_WORDS: Words = {
  ArtifactForm: { is: "files: single files with their names. tar: one archive that keeps links and modes." },
  ArtifactName: { is: NAME },
  PartNumber: { is: "Number of a part, from 1." },
  FilePath: { is: "Path of a file in an artifact." },
  ArtifactGrant: { is: "What an earlier answer granted. Opaque." },
  ArtifactOpening: {
    is: "What an agent is about to send.",
    name: NAME,
    as: "Its form. A tar has one file.",
    keepDays: `Days for which it is kept: 1 to ${LIMITS.artifactDays}, and no longer than its build. Default: ${DEFAULTS.artifactDays}.`,
    bytes: `${BYTES} At most ${byteSize(LIMITS.artifactBytes)}.`,
    files: `Number of files, at most ${withCommas(LIMITS.artifactFiles)}.`,
  },
  OpenedArtifact: {
    is: "How to send an artifact.",
    artifactId: "Id of the artifact.",
    grant: `What the parts and the end are sent with, for ${PERIODS.grantMinutes} minutes.`,
    expiresAt: "When the grant ends. The same request has another one.",
    partBytes: "Bytes of every part but the last.",
    parts: "Number of parts. 0: there is no byte to send.",
  },
  SentPart: { is: "A part that is stored.", etag: "For the end of the artifact." },
  ArtifactFile: {
    is: "One file of an artifact.",
    path: `Path with / between its parts: relative, without . and .., at most ${withCommas(LIMITS.artifactPathBytes)} bytes of UTF-8.`,
    size: "Its bytes.",
    mode: "755 for a file that can be run.",
    sha256: "SHA-256 of its bytes, in lower-case hexadecimal digits.",
    crc32: "CRC-32 of its bytes, in 8 lower-case hexadecimal digits.",
  },
  ArtifactEnd: {
    is: "What was sent.",
    list: "Its files in the order of their bytes. No two paths may be the same when letter case and the composition of letters do not count.",
    etags: "The last answer for each part, in order.",
    md5: "Of several parts: the MD5 of their MD5s (16 bytes each), one after the other.",
  },
  Artifact: {
    is: "A named set of files that a job left.",
    id: "Id of the artifact.",
    jobId: "The job that left it.",
    name: NAME,
    as: "Its form.",
    bytes: BYTES,
    files: "Number of files.",
    createdAt: "When its agent began to send it.",
    expiresAt: "When it is deleted.",
  },
  ArtifactWithFiles: { is: "An artifact with its files.", like: "Artifact", list: "Its files." },
  DownloadRequest: {
    is: "What a job asks for of the jobs that it needs.",
    downloads: "At least one, at most 100.",
    "downloads[].from": "Key of a job in the file.",
    "downloads[].artifact": "Name of an artifact. Left out: all that the job left.",
  },
  Downloads: {
    is: "What the job may fetch.",
    artifacts: "In the order of the request.",
    "artifacts[].from": "As it was asked for.",
    "artifacts[].matrix": "The combination of its job's matrix; null if the job has no matrix.",
    "artifacts[].jobId": "The job that left it.",
    "artifacts[].name": "Name of the artifact.",
    "artifacts[].as": "Its form.",
    "artifacts[].bytes": BYTES,
    "artifacts[].files": "Number of files.",
    "artifacts[].grant": `For its list and its content, for ${PERIODS.grantMinutes} minutes.`,
  },
  ArtifactShare: {
    is: "For how long, and what.",
    hours: `1 to ${LIMITS.shareHours}.`,
    path: "A file or a folder of it. Left out or null: all of it.",
  },
  SharedArtifact: {
    is: "An address for whoever gets it.",
    url: "A file, or a ZIP archive of several.",
    expiresAt: "When the address shows nothing any more.",
  },
};
