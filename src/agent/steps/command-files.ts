import { closeSync, fstatSync } from "node:fs";
import { join } from "node:path";
import { COMMAND_FILE_LIMIT, readArtifactFile, readCommandFile, readEnvFile } from "../../domain/plan/command-file.ts";
import { readPathFile } from "../../domain/plan/path-file.ts";
import { createFileFor } from "../process/as-user.ts";
import type { StepUser } from "../process/step-user.ts";
import { MaskFile } from "./mask-file.ts";
import { readPart } from "./read-part.ts";

const KINDS = ["OUTPUT", "ENV", "PATH", "MASK", "SUMMARY", "ARTIFACT"] as const;
type Kind = (typeof KINDS)[number];

/** Mistakes of one file that are told. */
const MOST_TOLD = 20;

export interface CommandFileContents {
  outputs: Record<string, string>;
  env: Record<string, string>;
  /** Folders for the PATH of later steps, in the order written. */
  path: string[];
  summary: string;
  artifacts: { name: string; paths: string[] }[];
  /** Mistakes in the files, one line each. They quote nothing from the files. */
  problems: string[];
}

/**
 * The files that one try of a step writes outputs, variables, folders of PATH, masks and a summary to. They are opened
 * before it starts, and read by that handle: a link that the step puts at their path is never followed.
 */
export class CommandFiles {
  /** MILLRACE_OUTPUT, MILLRACE_ENV, MILLRACE_PATH and so on, for the step's environment. */
  readonly env: Record<string, string>;
  readonly #fds: Record<Kind, number>;
  readonly masks: MaskFile;

  /** `name` is the beginning of their names, which no other try has. */
  constructor(folder: string, name: string, user: StepUser | null) {
    const paths = KINDS.map((kind) => [kind, join(folder, `${name}-${kind.toLowerCase()}`)] as const);
    this.#fds = Object.fromEntries(paths.map(([kind, path]) => [kind, createFileFor(user, path)])) as Record<
      Kind,
      number
    >;
    this.masks = new MaskFile(this.#fds.MASK);
    this.env = Object.fromEntries(paths.map(([kind, path]) => [`MILLRACE_${kind}`, path]));
  }

  /** Reads what the step has written, after its end. */
  readAll(): CommandFileContents {
    const output = readCommandFile(this.#read("OUTPUT"));
    const env = readEnvFile(this.#read("ENV"));
    const path = readPathFile(this.#read("PATH"));
    const kept = readArtifactFile(this.#read("ARTIFACT"));
    const about = (kind: Kind, { problems }: Pick<typeof output, "problems">): string[] => {
      const told = problems.slice(0, MOST_TOLD);
      const more = problems.length - told.length;
      return [
        ...told.map(({ line, message }) => `$MILLRACE_${kind}${line > 0 ? `, line ${line}` : ""}: ${message}`),
        ...(more > 0 ? [`$MILLRACE_${kind}: and ${more} more`] : []),
      ];
    };
    const tooLarge = KINDS.filter((kind) => fstatSync(this.#fds[kind]).size > COMMAND_FILE_LIMIT);
    return {
      outputs: Object.fromEntries(output.entries.map(({ name, value }) => [name, value])),
      env: Object.fromEntries(env.entries.map(({ name, value }) => [name, value])),
      path: path.folders,
      summary: this.#read("SUMMARY"),
      artifacts: kept.artifacts,
      problems: [
        ...about("OUTPUT", output),
        ...about("ENV", env),
        ...about("PATH", path),
        ...about("ARTIFACT", kept),
        ...tooLarge.map((kind) => `$MILLRACE_${kind}: only the first ${COMMAND_FILE_LIMIT} bytes are read`),
      ],
    };
  }

  close(): void {
    for (const kind of KINDS) closeSync(this.#fds[kind]);
  }

  /** Some programs write a byte order mark where a file begins: it is no part of the text. */
  #read(kind: Kind): string {
    return new TextDecoder().decode(readPart(this.#fds[kind], 0, COMMAND_FILE_LIMIT));
  }
}
