import { type ArtifactOwner, readContent } from "../archive/artifacts.ts";
import { inFolder, type PlacedFile, placed } from "../domain/artifact/file-list.ts";
import { type ZipEntry, zipLayout } from "../domain/artifact/zip.ts";
import type { FoundArtifact } from "./artifact-records.ts";
import { filesOf } from "./artifacts.ts";
import type { Context } from "./core/context.ts";
import { notFound } from "./core/refusal.ts";

/** Ranges of the object that one archive reads at most: beyond that what lies between is read too, and left out. */
const RANGES = 100;

interface Run {
  start: number;
  end: number;
  entries: ZipEntry[];
}

/** Files whose bytes lie one after the other, each run one read. */
const runsOf = (entries: readonly ZipEntry[]): Run[] => {
  const runs: Run[] = [];
  for (const entry of entries) {
    const { start, end } = entry.file;
    const last = runs.at(-1);
    if (last?.end === start) {
      last.end = end;
      last.entries.push(entry);
    } else runs.push({ start, end, entries: [entry] });
  }
  const whole = { start: runs[0]?.start ?? 0, end: runs.at(-1)?.end ?? 0, entries: [...entries] };
  return runs.length > RANGES ? [whole] : runs;
};

/** Takes bytes from a stream in amounts that its chunks do not know of. */
class Taking {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #left: Uint8Array = new Uint8Array();

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  /** Hands on the next bytes, in chunks. @throws where there are fewer */
  async take(bytes: number, to: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    let wanted = bytes;
    while (wanted > 0) {
      if (this.#left.length === 0) {
        const { done, value } = await this.#reader.read();
        if (done) throw new Error("The archive has fewer bytes than the list of the artifact");
        this.#left = value;
      }
      const chunk = this.#left.subarray(0, wanted);
      this.#left = this.#left.subarray(chunk.length);
      wanted -= chunk.length;
      await to(chunk);
    }
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel().catch(() => {});
  }
}

const nothing = async (): Promise<void> => {};

const writeRun = async (body: ReadableStream<Uint8Array>, run: Run, write: (chunk: Uint8Array) => Promise<void>) => {
  const taking = new Taking(body);
  try {
    let at = run.start;
    for (const { file, header } of run.entries) {
      await taking.take(file.start - at, nothing);
      await write(header);
      await taking.take(file.size, write);
      at = file.end;
    }
  } finally {
    await taking.cancel();
  }
};

/** An archive of files: `body` begins to make it. */
export interface Zip {
  size: number;
  body(): ReadableStream<Uint8Array>;
}

/** The archive of these files, which is made while it is read. */
export const zipOf = (archive: R2Bucket, owner: ArtifactOwner, files: PlacedFile[], at: number): Zip => {
  const { entries, directory, size } = zipLayout(files, at);
  const send = async (writable: WritableStream<Uint8Array>): Promise<void> => {
    const writer = writable.getWriter();
    try {
      for (const run of runsOf(entries)) {
        const body = await readContent(archive, owner, run);
        if (!body) throw new Error("The artifact was deleted while it was read");
        await writeRun(body, run, (chunk) => writer.write(chunk));
      }
      await writer.write(directory);
      await writer.close();
    } catch (error) {
      await writer.abort(error).catch(() => {});
    }
  };
  return {
    size,
    body() {
      const { readable, writable } = new FixedLengthStream(size);
      void send(writable);
      return readable;
    },
  };
};

/** All files of an artifact, or those of a folder. @throws Refusal not-found where there are none */
export const zipOfArtifact = async (context: Context, found: FoundArtifact, folder: string | null): Promise<Zip> => {
  const files = inFolder(placed(await filesOf(context, found)), folder);
  if (files.length === 0) throw notFound();
  return zipOf(context.archive, found.owner, files, found.artifact.at);
};
