import { closeSync, fstatSync, readSync } from "node:fs";
import { join } from "node:path";
import { spend, type Work } from "../../domain/work.ts";
import {
  COMMAND_FILE_LIMIT,
  MaskFileReader,
  readArtifactFile,
  readCommandFile,
  readEnvFile,
  readMaskFile,
} from "../../pipeline/prepare/command-files.ts";
import { readPathFile } from "../../pipeline/prepare/path-file.ts";
import { createFileFor, type StepUser } from "../process/step-user.ts";

/** Reads an open file's bytes between two offsets, fewer at the file's end. */
const readPart = (fd: number, from: number, to: number): Buffer => {
  const bytes = Buffer.alloc(Math.max(0, Math.min(fstatSync(fd).size, to) - from));
  let done = 0;
  while (done < bytes.length) {
    const count = readSync(fd, bytes, done, bytes.length - done, from + done);
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
};

/** Limit for the characters of incomplete values to mask, and for the bytes to reread. */
const MOST_AGAIN = COMMAND_FILE_LIMIT;
/** Bytes to compare before the new bytes, to verify that the file only grew. */
const COMPARED = 4096;

/** The masks that a step adds while it runs. Reads only the new part of the file. */
export class MaskFile {
  readonly #fd: number;
  readonly #work: Work = { left: MOST_AGAIN };
  #reader = new MaskFileReader(this.#work);
  #decoder = new TextDecoder();
  #size = 0;
  #writtenAt = 0;
  /** The offset up to which the file was read, and the last bytes before it. */
  #at = 0;
  #last: Buffer = Buffer.alloc(0);

  constructor(fd: number) {
    this.#fd = fd;
  }

  /**
   * Returns the masks since the last call. The call is cheap without new masks, because it runs before each piece of
   * output.
   */
  added(): string[] {
    const { size, mtimeMs } = fstatSync(this.#fd);
    if (size === this.#size && mtimeMs === this.#writtenAt) return [];
    this.#size = size;
    this.#writtenAt = mtimeMs;
    if (!this.#hasOnlyGrown() && !this.#beginAgain()) return [];
    const bytes = readPart(this.#fd, this.#at, COMMAND_FILE_LIMIT);
    this.#at += bytes.length;
    this.#last = Buffer.concat([this.#last, bytes.subarray(-COMPARED)]).subarray(-COMPARED);
    return this.#reader.push(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Returns all masks in the file after the step's end. */
  all(): string[] {
    return readMaskFile(new TextDecoder().decode(readPart(this.#fd, 0, COMMAND_FILE_LIMIT)));
  }

  #hasOnlyGrown(): boolean {
    const before = readPart(this.#fd, this.#at - this.#last.length, this.#at);
    return before.equals(this.#last);
  }

  /** Restarts at the file's beginning, because `echo ... > "$MILLRACE_MASK"` replaces the earlier values. */
  #beginAgain(): boolean {
    if (!spend(this.#work, this.#size)) return false;
    this.#reader = new MaskFileReader(this.#work);
    this.#decoder = new TextDecoder();
    this.#at = 0;
    this.#last = Buffer.alloc(0);
    return true;
  }
}

const KINDS = ["OUTPUT", "ENV", "PATH", "MASK", "SUMMARY", "ARTIFACT"] as const;
type Kind = (typeof KINDS)[number];

/** Maximum mistakes to report for one file. */
const MOST_TOLD = 20;

export interface CommandFileContents {
  outputs: Record<string, string>;
  env: Record<string, string>;
  /** Folders for later steps' PATH, in the order written. */
  path: string[];
  summary: string;
  artifacts: { name: string; paths: string[] }[];
  /** Mistakes in the files, one line each. They quote nothing from the files. */
  problems: string[];
}

/**
 * The files to which one try of a step writes outputs, variables, folders for PATH, masks and a summary. The agent
 * opens them before the step starts and reads by handle. The agent therefore never follows a link that the step puts at
 * a file's path.
 */
export class CommandFiles {
  /** MILLRACE_OUTPUT, MILLRACE_ENV, MILLRACE_PATH and so on, for the step's environment. */
  readonly env: Record<string, string>;
  readonly #fds: Record<Kind, number>;
  readonly masks: MaskFile;

  /** `name` is the files' prefix, which no other try has. */
  constructor(folder: string, name: string, user: StepUser | null) {
    const paths = KINDS.map((kind) => [kind, join(folder, `${name}-${kind.toLowerCase()}`)] as const);
    this.#fds = Object.fromEntries(paths.map(([kind, path]) => [kind, createFileFor(user, path)])) as Record<
      Kind,
      number
    >;
    this.masks = new MaskFile(this.#fds.MASK);
    this.env = Object.fromEntries(paths.map(([kind, path]) => [`MILLRACE_${kind}`, path]));
  }

  /** Reads the files after the step's end. */
  readAll(): CommandFileContents {
    const output = readCommandFile(this.#read("OUTPUT"));
    const env = readEnvFile(this.#read("ENV"));
    const path = readPathFile(this.#read("PATH"));
    const artifactList = readArtifactFile(this.#read("ARTIFACT"));
    const about = (kind: Kind, { problems }: Pick<typeof output, "problems">): string[] => {
      const firstProblems = problems.slice(0, MOST_TOLD);
      const more = problems.length - firstProblems.length;
      return [
        ...firstProblems.map(({ line, message }) => `$MILLRACE_${kind}${line > 0 ? `, line ${line}` : ""}: ${message}`),
        ...(more > 0 ? [`$MILLRACE_${kind}: and ${more} more`] : []),
      ];
    };
    const tooLarge = KINDS.filter((kind) => fstatSync(this.#fds[kind]).size > COMMAND_FILE_LIMIT);
    return {
      outputs: Object.fromEntries(output.entries.map(({ name, value }) => [name, value])),
      env: Object.fromEntries(env.entries.map(({ name, value }) => [name, value])),
      path: path.folders,
      summary: this.#read("SUMMARY"),
      artifacts: artifactList.artifacts,
      problems: [
        ...about("OUTPUT", output),
        ...about("ENV", env),
        ...about("PATH", path),
        ...about("ARTIFACT", artifactList),
        ...tooLarge.map((kind) => `$MILLRACE_${kind}: only the first ${COMMAND_FILE_LIMIT} bytes are read`),
      ],
    };
  }

  close(): void {
    for (const kind of KINDS) closeSync(this.#fds[kind]);
  }

  /** Reads a file without its byte order mark, which some programs write at the beginning. */
  #read(kind: Kind): string {
    return new TextDecoder().decode(readPart(this.#fds[kind], 0, COMMAND_FILE_LIMIT));
  }
}
