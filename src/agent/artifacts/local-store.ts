import { createReadStream } from "node:fs";
import { join } from "node:path";
import { receiveFiles } from "../files/file-helper.ts";
import type { FoundFile } from "../files/helper-protocol.ts";
import type { ArtifactStore, NewArtifact } from "./artifact-store.ts";
import { safeFolder } from "./fetch-artifacts.ts";
import { type FileSums, SumsOfFiles } from "./sums.ts";

/** A local run's job that keeps or fetches artifacts. */
export interface LocalJob {
  key: string;
  definition: string;
  matrix: Record<string, string | boolean> | null;
}

type KeptArtifact = NewArtifact & { job: LocalJob; folder: string; files: (FoundFile & FileSums)[] };

/** Returns one job's store in a local run. */
export type LocalArtifacts = (job: LocalJob, signal: AbortSignal) => ArtifactStore;

/** Stores artifacts in a folder. The folder has a subfolder for each job, and in it a subfolder for each artifact. */
export const localArtifacts = (root: string): LocalArtifacts => {
  const artifacts: KeptArtifact[] = [];
  return (job, signal) => ({
    async keep(artifact, { files, bytes }) {
      const folder = [safeFolder(job.key), artifact.name];
      const sums = new SumsOfFiles(files);
      await receiveFiles({ root, user: null, signal }, { folder, replaces: true }, async (writer) => {
        const next = files.values();
        let bytesLeft = 0;
        const begin = async (): Promise<void> => {
          while (bytesLeft === 0) {
            const { value, done } = next.next();
            if (done) return;
            bytesLeft = value.size;
            await writer.begin({ ...value, isUnpacked: false });
          }
        };
        await begin();
        for await (const piece of bytes()) {
          sums.push(piece);
          for (let rest = piece; rest.length > 0; await begin()) {
            const own = rest.subarray(0, bytesLeft);
            await writer.write(own);
            bytesLeft -= own.length;
            rest = rest.subarray(own.length);
          }
        }
      });
      const again = artifacts.findIndex((one) => one.job.key === job.key && one.name === artifact.name);
      if (again >= 0) artifacts.splice(again, 1);
      const withSums = files.map((file, index) => ({ ...file, ...sums.sums[index]! }));
      artifacts.push({ ...artifact, job, folder: join(root, ...folder), files: withSums });
    },

    async find({ from, artifact }) {
      const matching = artifacts.filter(
        (one) => one.job.definition === from && (artifact === null || one.name === artifact),
      );
      return matching.map(({ name, as, job, folder, files }) => ({
        name,
        as,
        matrix: job.matrix,
        bytes: files.reduce((sum, { size }) => sum + size, 0),
        files: async () => files,
        content: () => readFiles(folder, files),
      }));
    },
  });
};

async function* readFiles(folder: string, files: FoundFile[]): AsyncGenerator<Buffer> {
  for (const { path } of files) yield* createReadStream(join(folder, path)) as AsyncIterable<Buffer>;
}
