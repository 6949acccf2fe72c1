import * as z from "zod/mini";
import {
  type ArtifactEnd,
  ArtifactFile,
  type ArtifactOpening,
  type DownloadRequest,
  Downloads,
  OpenedArtifact,
} from "../../protocol/artifact.ts";
import { SECOND_MS } from "../../protocol/units.ts";
import { sizeInWords } from "../files/file-words.ts";
import type { JobLog } from "../log/job-log.ts";
import type { ApiClient } from "../wire/client.ts";
import type { ArtifactStore } from "./artifact-store.ts";
import { contentOf } from "./fetch-content.ts";
import { ArtifactRefused, LeaseCalls, PART_TIMEOUT } from "./lease-calls.ts";
import { Upload } from "./part-sender.ts";
import { SumsOfFiles } from "./sums.ts";

/** The agent's artifact requests to the service. @throws ArtifactRefused, Cancel lease-lost */
export class ArtifactCalls extends LeaseCalls<ArtifactOpening, ArtifactEnd> {
  protected readonly kind = {
    path: "artifact",
    opened: z.pipe(
      OpenedArtifact,
      z.transform(({ artifactId: id, ...opened }) => ({ id, ...opened })),
    ),
    end: { status: 200, timeout: PART_TIMEOUT },
  };

  async downloads(body: DownloadRequest): Promise<Downloads["artifacts"]> {
    return (await this.call(Downloads, 200, { method: "POST", path: this.path("download"), body })).artifacts;
  }

  async list(grant: string): Promise<ArtifactFile[]> {
    const { body } = await this.send(200, { method: "GET", path: `/artifact/${encodeURIComponent(grant)}/list` });
    const files = z.array(ArtifactFile).safeParse(body);
    if (!files.success) throw new ArtifactRefused(null, "the service did not answer with a valid list");
    return files.data;
  }
}

/** Milliseconds between two log lines about one upload. */
const SAY_EVERY = 20 * SECOND_MS;

/** Logs a long upload's progress. */
const reportProgress = (log: JobLog, name: string, total: number): ((bytes: number) => void) => {
  let sentBytes = 0;
  let said = performance.now();
  return (bytes) => {
    sentBytes += bytes;
    if (performance.now() - said < SAY_EVERY) return;
    said = performance.now();
    log.say(`artifact ${name}: ${sizeInWords(sentBytes)} of ${sizeInWords(total)}`);
  };
};

/** Stores one job's artifacts at the service. Its calls throw ArtifactRefused, FileProblem, or the signal's reason. */
export const serviceStore = (calls: ArtifactCalls, client: ApiClient, log: JobLog): ArtifactStore => ({
  async keep({ name, as, keepDays }, { files, bytes }) {
    const total = files.reduce((sum, { size }) => sum + size, 0);
    const opening = { name, as, bytes: total, files: files.length, ...(keepDays === null ? {} : { keepDays }) };
    const upload = await Upload.begin(calls, opening);
    const sums = new SumsOfFiles(files);
    const summed = async function* () {
      for await (const piece of bytes()) {
        sums.push(piece);
        yield piece;
      }
    };
    const listed = () => files.map(({ path, size, mode }, index) => ({ path, size, mode, ...sums.sums[index]! }));
    await upload.send(summed(), (parts) => ({ list: listed(), ...parts }), reportProgress(log, name, total));
  },

  async find({ from, artifact }) {
    const request = { downloads: [{ from, ...(artifact === null ? {} : { artifact }) }] };
    const artifacts = await calls.downloads(request);
    return artifacts.map((one) => {
      let { grant } = one;
      const renew = async (): Promise<string> => {
        const again = await calls.downloads(request);
        grant = again.find(({ jobId, name }) => jobId === one.jobId && name === one.name)?.grant ?? grant;
        return grant;
      };
      return {
        ...one,
        files: () => calls.list(grant),
        content: () => contentOf({ client, grant, renew, bytes: one.bytes, signal: calls.signal }),
      };
    });
  },
});
