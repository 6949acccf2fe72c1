import { createHash } from "node:crypto";
import type { PlanDownload } from "../../pipeline/parse/plan.ts";
import type { ArtifactFile } from "../../protocol/artifact.ts";
import { type FilePlace, FileProblem, type FileWriter, receiveFiles } from "../files/file-helper.ts";
import { filesInWords, isTarOfBundle, shownPath, sizeInWords } from "../files/file-words.ts";
import type { JobLog } from "../log/job-log.ts";
import type { ArtifactStore, LeftArtifact } from "./artifact-store.ts";
import { toArtifactFailure } from "./keep-artifacts.ts";

/**
 * Converts any text to a folder's name. Different texts have different names, and no name leads out of the parent
 * folder.
 */
export const safeFolder = (text: string): string => {
  const name = text.replaceAll(/[^\p{L}\p{N}()., _-]/gu, (character) => encodeURIComponent(character));
  return /^\.*$/.test(name) ? `%2E${name}` : name;
};

interface FetchOptions {
  place: FilePlace;
  store: ArtifactStore;
  log: JobLog;
  /** Replaces existing files. */
  replaces: boolean;
  /** Reports whether a job did not run, and so left no artifacts. */
  isSkipped: (job: string) => boolean;
}

/** Puts artifacts from earlier jobs into this job's checkout. @throws BuildFailure artifact-failed */
export const fetchArtifacts = async (downloads: readonly PlanDownload[], options: FetchOptions): Promise<void> => {
  if (downloads.length > 0) options.log.begin("Downloads");
  for (const download of downloads) {
    const what = `Cannot fetch ${download.artifact ?? "the artifacts"} from ${download.from}`;
    try {
      await fetchOne(download, options);
    } catch (error) {
      throw toArtifactFailure(error, what);
    }
  }
};

const fetchOne = async (download: PlanDownload, options: FetchOptions): Promise<void> => {
  const { from, artifact, to } = download;
  if (options.isSkipped(from)) {
    options.log.say(`${from} was skipped and has no artifacts`);
    return;
  }
  const artifacts = await options.store.find(download);
  if (artifacts.length === 0)
    options.log.say(`${from} has no ${artifact === null ? "artifacts" : `artifact ${artifact}`}`);
  for (const one of artifacts) {
    const values = Object.values(one.matrix ?? {}).map((value) => safeFolder(String(value)));
    const folder = [...to, ...values, ...(artifact === null ? [one.name] : [])];
    await putArtifact(one, folder, options);
    options.log.say(`${from}: ${one.name}, ${sizeInWords(one.bytes)}, put into ${folder.join("/") || "the checkout"}`);
  }
};

const putArtifact = async (artifact: LeftArtifact, folder: string[], options: FetchOptions): Promise<void> => {
  const { place, replaces } = options;
  const files = await artifact.files();
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes !== artifact.bytes) throw new FileProblem(`${filesInWords(files.length)} do not have the announced size`);
  await receiveFiles(place, { folder, replaces }, (writer) => write(artifact, files, writer));
};

/** Writes the bytes to their files, and compares each file with its checksum. */
const write = async (
  { as, content }: LeftArtifact,
  files: Omit<ArtifactFile, "crc32">[],
  writer: FileWriter,
): Promise<void> => {
  const begin = ({ path, size, mode }: Omit<ArtifactFile, "crc32">) =>
    writer.begin({ path, size, mode, isUnpacked: as === "tar" || isTarOfBundle(path) });
  const pieces = content()[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  try {
    for (const file of files) {
      await begin(file);
      const hash = createHash("sha256");
      for (let bytesLeft = file.size; bytesLeft > 0; ) {
        if (rest.length === 0) {
          const { done, value } = await pieces.next();
          if (done) throw new FileProblem("its content ends too early");
          rest = value;
        }
        const own = rest.subarray(0, bytesLeft);
        hash.update(own);
        await writer.write(own);
        bytesLeft -= own.length;
        rest = rest.subarray(own.length);
      }
      if (hash.digest("hex") !== file.sha256)
        throw new FileProblem(`${shownPath(file.path)} arrived with other content than was stored`);
    }
  } finally {
    await pieces.return?.();
  }
};
