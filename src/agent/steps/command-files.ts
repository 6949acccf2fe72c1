import { closeSync, fstatSync, readSync } from "node:fs";
import { join } from "node:path";
import { COMMAND_FILE_LIMIT, readCommandFile, readEnvFile, readMaskFile } from "../../domain/plan/command-file.ts";
import { createFileFor } from "../process/as-user.ts";
import type { StepUser } from "../process/step-user.ts";

const KINDS = ["OUTPUT", "ENV", "MASK", "SUMMARY"] as const;
type Kind = (typeof KINDS)[number];

/** Characters of a mask whose line is not ended yet: fewer could be any part of the text. */
const UNENDED_MASK = 4;

export interface CommandFileContents {
  outputs: Record<string, string>;
  env: Record<string, string>;
  summary: string;
  /** What was wrong with the files, a line each; quotes nothing of them. */
  problems: string[];
}

/**
 * The files by which one step speaks to the build. They are held open from before the step begins: whatever the step
 * puts in their place, a link to somebody else's file for one, is never read.
 */
export class CommandFiles {
  /** MILLRACE_OUTPUT and the others, for the step's environment. */
  readonly env: Record<string, string>;
  readonly #fds: Record<Kind, number>;
  #maskBytes = 0;

  constructor(folder: string, index: number, user: StepUser | null) {
    const paths = KINDS.map((kind) => [kind, join(folder, `${index}-${kind.toLowerCase()}`)] as const);
    this.#fds = Object.fromEntries(paths.map(([kind, path]) => [kind, createFileFor(user, path)])) as Record<
      Kind,
      number
    >;
    this.env = Object.fromEntries(paths.map(([kind, path]) => [`MILLRACE_${kind}`, path]));
  }

  /** All masks so far when the file has grown since the last look, else none. Cheap: asked before each piece of output. */
  newMasks(): string[] {
    const { size } = fstatSync(this.#fds.MASK);
    if (size === this.#maskBytes) return [];
    this.#maskBytes = size;
    const text = this.#read("MASK");
    const unended = text.length - text.lastIndexOf("\n") - 1;
    return readMaskFile(unended < UNENDED_MASK ? text.slice(0, text.length - unended) : text);
  }

  /** What the step has written, after its end. */
  readAll(): CommandFileContents {
    const output = readCommandFile(this.#read("OUTPUT"));
    const env = readEnvFile(this.#read("ENV"));
    const about = (kind: Kind, { problems }: typeof output): string[] =>
      problems.map(({ line, message }) => `$MILLRACE_${kind}${line > 0 ? `, line ${line}` : ""}: ${message}`);
    const tooLarge = KINDS.filter((kind) => fstatSync(this.#fds[kind]).size > COMMAND_FILE_LIMIT);
    return {
      outputs: Object.fromEntries(output.entries.map(({ name, value }) => [name, value])),
      env: Object.fromEntries(env.entries.map(({ name, value }) => [name, value])),
      summary: this.#read("SUMMARY"),
      problems: [
        ...about("OUTPUT", output),
        ...about("ENV", env),
        ...tooLarge.map((kind) => `$MILLRACE_${kind}: only the first ${COMMAND_FILE_LIMIT} bytes are read`),
      ],
    };
  }

  close(): void {
    for (const kind of KINDS) closeSync(this.#fds[kind]);
  }

  #read(kind: Kind): string {
    const bytes = Buffer.alloc(Math.min(fstatSync(this.#fds[kind]).size, COMMAND_FILE_LIMIT));
    let done = 0;
    while (done < bytes.length) {
      const count = readSync(this.#fds[kind], bytes, done, bytes.length - done, done);
      if (count === 0) break;
      done += count;
    }
    return bytes.toString("utf8", 0, done);
  }
}
