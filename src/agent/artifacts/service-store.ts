import type { PlanDownload } from "../../domain/plan/plan.ts";
import type { CollectedFiles } from "../files/file-helper.ts";
import type { BuildLog } from "../log/build-log.ts";
import type { Client } from "../wire/client.ts";
import type { ArtifactCalls } from "./artifact-calls.ts";
import type { ArtifactStore, LeftArtifact, NewArtifact } from "./artifact-store.ts";
import { contentOf } from "./fetch-content.ts";
import { Upload } from "./part-sender.ts";
import { sizeInWords } from "./sizes.ts";
import { SumsOfFiles } from "./sums.ts";

/** Milliseconds between two lines about one upload. */
const SAY_EVERY = 20_000;

/** The service's artifacts, for one job. */
export class ServiceStore implements ArtifactStore {
  readonly #calls: ArtifactCalls;
  readonly #client: Client;
  readonly #log: BuildLog;

  constructor(calls: ArtifactCalls, client: Client, log: BuildLog) {
    this.#calls = calls;
    this.#client = client;
    this.#log = log;
  }

  /** @throws ArtifactRefused, FileProblem, or the signal's reason */
  async keep({ name, as, keepDays }: NewArtifact, { files, bytes }: CollectedFiles): Promise<void> {
    const total = files.reduce((sum, { size }) => sum + size, 0);
    const opening = { name, as, bytes: total, files: files.length, ...(keepDays === null ? {} : { keepDays }) };
    const upload = await Upload.begin(this.#calls, opening);
    const sums = new SumsOfFiles(files);
    const summed = async function* () {
      for await (const piece of bytes()) {
        sums.push(piece);
        yield piece;
      }
    };
    const listed = () => files.map(({ path, size, mode }, index) => ({ path, size, mode, ...sums.sums[index]! }));
    await upload.send(summed(), (sent) => ({ list: listed(), ...sent }), this.#progressOf(name, total));
  }

  async find({ from, artifact }: PlanDownload): Promise<LeftArtifact[]> {
    const request = { downloads: [{ from, ...(artifact === null ? {} : { artifact }) }] };
    const found = await this.#calls.downloads(request);
    return found.map((one) => {
      let { grant } = one;
      const renew = async (): Promise<string> => {
        const again = await this.#calls.downloads(request);
        grant = again.find(({ jobId, name }) => jobId === one.jobId && name === one.name)?.grant ?? grant;
        return grant;
      };
      return {
        ...one,
        files: () => this.#calls.list(grant),
        content: () => contentOf({ client: this.#client, grant, renew, bytes: one.bytes, signal: this.#calls.signal }),
      };
    });
  }

  /** Tells of a long upload how far it is. */
  #progressOf(name: string, total: number): (bytes: number) => void {
    let sent = 0;
    let said = performance.now();
    return (bytes) => {
      sent += bytes;
      if (performance.now() - said < SAY_EVERY) return;
      said = performance.now();
      this.#log.say(`artifact ${name}: ${sizeInWords(sent)} of ${sizeInWords(total)}`);
    };
  }
}
