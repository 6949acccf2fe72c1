import { type ArtifactOwner, artifactKey } from "../../archive/artifacts.ts";
import { readRange } from "../../archive/bytes.ts";
import { inFolder, type PlacedFile, placeFiles } from "../../domain/artifact/file-list.ts";
import { type ZipEntry, zipLayout } from "../../domain/artifact/zip.ts";
import { KIB, MIB } from "../../protocol/units.ts";
import type { Context } from "../core/context.ts";
import { notFound } from "../core/refusal.ts";
import { type FoundArtifact, readFiles } from "./artifact-records.ts";

/**
 * The maximum number of ranges of small files that one archive reads. Beyond that, the archive also reads the bytes
 * between the files, and skips them.
 */
const RANGES = 100;

/**
 * The size from which a file is read separately, so that the platform copies it. Each chunk that JavaScript copies
 * takes CPU time.
 */
const LARGE = 8 * MIB;

/** Bytes that JavaScript copies at a time. A reader without an explicit size gets 4 KiB. */
const CHUNK = 256 * KIB;

interface Run {
  start: number;
  end: number;
  entries: ZipEntry[];
}

const isLarge = ({ file }: ZipEntry): boolean => file.size >= LARGE;

/**
 * Splits the files into runs, each of which needs one read. Adjacent small files share a run, and each large file has
 * its own.
 */
const splitIntoRuns = (entries: readonly ZipEntry[]): Run[] => {
  const runs: Run[] = [];
  let isOpen = false;
  for (const entry of entries) {
    const { start, end } = entry.file;
    const last = runs.at(-1);
    if (isOpen && !isLarge(entry) && last?.end === start) {
      last.end = end;
      last.entries.push(entry);
    } else runs.push({ start, end, entries: [entry] });
    isOpen = !isLarge(entry);
  }
  const whole = { start: runs[0]?.start ?? 0, end: runs.at(-1)?.end ?? 0, entries: [...entries] };
  const small = runs.filter(({ entries: [first] }) => first && !isLarge(first));
  return small.length > RANGES ? [whole] : runs;
};

const write = async (writable: WritableStream<Uint8Array>, chunk: Uint8Array): Promise<void> => {
  const writer = writable.getWriter();
  try {
    await writer.write(chunk);
  } finally {
    writer.releaseLock();
  }
};

/** Reads bytes from a stream in amounts that are independent of the stream's chunks. */
class Taking {
  readonly #reader: ReadableStreamBYOBReader;
  #buffer = new ArrayBuffer(CHUNK);

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader({ mode: "byob" });
  }

  /** Passes the next bytes on, in chunks. @throws if the stream has fewer bytes */
  async take(bytes: number, to: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    for (let remaining = bytes; remaining > 0; ) {
      const length = Math.min(remaining, CHUNK);
      const { value } = await this.#reader.readAtLeast(length, new Uint8Array(this.#buffer, 0, length));
      if (value?.length !== length) throw new Error("The archive has fewer bytes than the artifact's list");
      await to(value);
      this.#buffer = value.buffer as ArrayBuffer;
      remaining -= length;
    }
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel().catch(() => {});
  }
}

const nothing = async (): Promise<void> => {};

const writeRun = async (
  body: ReadableStream<Uint8Array>,
  run: Run,
  writable: WritableStream<Uint8Array>,
): Promise<void> => {
  const taking = new Taking(body);
  try {
    let at = run.start;
    for (const { file, header } of run.entries) {
      await taking.take(file.start - at, nothing);
      await write(writable, header);
      await taking.take(file.size, (chunk) => write(writable, chunk));
      at = file.end;
    }
  } finally {
    await taking.cancel();
  }
};

/** An archive of files. `body` begins to create it. */
export interface Zip {
  size: number;
  body(): ReadableStream<Uint8Array>;
}

/** Creates the archive of these files while somebody reads it. */
export const makeZip = (archive: R2Bucket, owner: ArtifactOwner, files: PlacedFile[], at: number): Zip => {
  const { entries, directory, size } = zipLayout(files, at);
  const send = async (writable: WritableStream<Uint8Array>): Promise<void> => {
    try {
      for (const run of splitIntoRuns(entries)) {
        const [first] = run.entries;
        const isAlone = run.entries.length === 1 && first !== undefined;
        if (isAlone) await write(writable, first.header);
        const body = await readRange(archive, artifactKey(owner), run);
        if (!body) throw new Error("The artifact was deleted during the download");
        if (isAlone) await body.pipeTo(writable, { preventClose: true });
        else await writeRun(body, run, writable);
      }
      await write(writable, directory);
      await writable.close();
    } catch (error) {
      await writable.abort(error).catch(() => {});
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

/** Creates an archive of an artifact's files, or of a folder's files. @throws Refusal not-found if no file matches */
export const zipOfArtifact = async (
  { archive }: Context,
  { owner, artifact }: FoundArtifact,
  folder: string | null,
): Promise<Zip> => {
  const files = inFolder(placeFiles(await readFiles(archive, owner)), folder);
  if (files.length === 0) throw notFound();
  return makeZip(archive, owner, files, artifact.at);
};
