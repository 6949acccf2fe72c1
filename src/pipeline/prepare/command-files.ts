import { artifactPathProblem } from "../../domain/artifact/chosen-paths.ts";
import { firstPatternProblem } from "../../domain/patterns.ts";
import { spend, type Work } from "../../domain/work.ts";
import { ArtifactName } from "../../protocol/artifact.ts";
import { LIMITS, withCommas } from "../../protocol/limits.ts";
import { MIB } from "../../protocol/units.ts";
import { ENV_VALUE_LIMIT } from "./step-environment.ts";

/** The parsed content of a step's command file. Lines count from 1. Problems never quote a value. */
interface CommandFile {
  entries: { name: string; value: string; line: number }[];
  problems: { line: number; message: string }[];
}

/** The most bytes in a command file. */
export const COMMAND_FILE_LIMIT = MIB;

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,254}$/;

/**
 * Parses the file of MILLRACE_OUTPUT or MILLRACE_ENV: lines of `NAME=value`, or a multi-line value as
 *     NAME<<END
 *     ...
 *     END where END is any word. Ignores empty lines. Rejects NUL characters, which an environment variable cannot
 *     contain.
 */
export const readCommandFile = (content: string): CommandFile => {
  const lines = content.split(/\r?\n/);
  const result: CommandFile = { entries: [], problems: [] };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    const begin = at;
    if (line === "") continue;
    const [, name = "", operator, rest = ""] = /^([^=<]*)(=|<<)(.*)$/s.exec(line) ?? [];
    let value = rest;
    if (operator === "<<") {
      const end = lines.indexOf(rest, at + 1);
      if (rest === "" || end < 0) {
        result.problems.push({ line: begin + 1, message: "the line that ends this value is missing" });
        return result;
      }
      value = lines.slice(at + 1, end).join("\n");
      at = end;
    }
    if (operator === undefined) result.problems.push({ line: begin + 1, message: "must be NAME=value or NAME<<END" });
    else if (!NAME.test(name))
      result.problems.push({ line: begin + 1, message: "the name must be letters, digits, _ and -" });
    else if (value.includes("\0")) result.problems.push({ line: begin + 1, message: "the value has a NUL character" });
    else result.entries.push({ name, value, line: begin + 1 });
  }
  return result;
};

const TOO_LARGE = `is larger than the ${ENV_VALUE_LIMIT} bytes that a variable may have`;

/**
 * Returns why no later step could have the variable; null if later steps can. A value that is too large would prevent
 * every later step from starting.
 */
const variableProblem = ({ name, value }: CommandFile["entries"][number]): string | null => {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || /^MILLRACE_/i.test(name))
    return "a name must be letters, digits and _, and not begin with MILLRACE_";
  return new TextEncoder().encode(value).byteLength > ENV_VALUE_LIMIT ? `${name} ${TOO_LARGE}` : null;
};

/** Parses the file of MILLRACE_ENV. Each name must be valid for a variable and must not begin with MILLRACE_. */
export const readEnvFile = (content: string): CommandFile => {
  const { entries, problems } = readCommandFile(content);
  const judged = entries.map((entry) => ({ entry, message: variableProblem(entry) }));
  return {
    entries: judged.flatMap(({ entry, message }) => (message === null ? [entry] : [])),
    problems: [
      ...problems,
      ...judged.flatMap(({ entry: { line }, message }) => (message === null ? [] : [{ line, message }])),
    ],
  };
};

/** Returns why the artifact cannot keep the path of a line `name=path` along with its earlier paths; null if it can. */
const artifactProblem = (name: string, path: string, before: readonly string[]): string | null => {
  const { error } = ArtifactName.safeParse(name);
  if (error) return `the name of an artifact ${error.issues[0]?.message}`;
  if (before.length === LIMITS.artifactFiles)
    return `an artifact has at most ${withCommas(LIMITS.artifactFiles)} paths: name a folder, or write a pattern`;
  return artifactPathProblem(path) ?? (before.length === 0 ? firstPatternProblem(path) : null);
};

/** Parses the lines `name=path` of a MILLRACE_ARTIFACT file. Paths with the same name belong to one artifact. */
export const readArtifactFile = (
  content: string,
): { artifacts: { name: string; paths: string[] }[]; problems: CommandFile["problems"] } => {
  const paths = new Map<string, string[]>();
  const problems: CommandFile["problems"] = [];
  for (const [index, line] of content.split(/\r?\n/).entries()) {
    if (line === "") continue;
    const equals = line.indexOf("=");
    const [name, path] = [line.slice(0, Math.max(0, equals)), line.slice(equals + 1)];
    const before = paths.get(name) ?? [];
    const message = equals < 0 ? "must be NAME=PATH" : artifactProblem(name, path, before);
    if (message !== null) problems.push({ line: index + 1, message });
    else {
      before.push(path);
      paths.set(name, before);
    }
  }
  return { artifacts: [...paths].map(([name, paths]) => ({ name, paths })), problems };
};

/** The minimum length of an unfinished line to mask. A shorter line would mask too much of the log. */
const UNFINISHED_LENGTH = 4;

/** A multi-line value: the lines between `<<END` at `start` and `END` at `end`. */
interface Block {
  start: number;
  end: number;
}

/**
 * Finds the values in a MILLRACE_MASK file while the file grows. A value is one line, or several between `<<END` and
 * `END`. The reader returns an unfinished value up to its current end, and again once the value is complete. These
 * repetitions cost `work`. When no work is left, only a reader of the whole file returns such a value.
 */
export class MaskFileReader {
  readonly #work: Work;
  readonly #lines: string[] = [];
  /** The line of `<<END` for each END that is still missing, the first one for each; by END, in order. */
  readonly #open = new Map<string, number>();
  readonly #openEnds: string[] = [];
  /** The first line that the reader has not returned yet. */
  #from = 0;
  /** The line that has no end yet. */
  #rest = "";

  constructor(work: Work) {
    this.#work = work;
  }

  /** @returns the values in the added text, and the values that this text completes */
  push(text: string): string[] {
    const [first = "", ...others] = text.split("\n");
    const lines = [this.#rest + first, ...others];
    this.#rest = lines.pop() ?? "";
    const blocks: Block[] = [];
    for (const line of lines) this.#take(plainLine(line), blocks);
    const last = this.#rest !== "" && spend(this.#work, this.#rest.length) ? plainLine(this.#rest) : "";
    return [...this.#values(blocks, last)].filter((value) => value !== "");
  }

  #take(line: string, blocks: Block[]): void {
    const end = this.#lines.push(line) - 1;
    const start = this.#open.get(line);
    if (start === undefined) {
      const word = line.startsWith("<<") ? line.slice(2) : "";
      if (word === "" || this.#open.has(word)) return;
      this.#open.set(word, end);
      this.#openEnds.push(word);
      return;
    }
    // A line within a value does not begin another value.
    while (this.#open.has(line)) this.#open.delete(this.#openEnds.pop()!);
    while (blocks.length > 0 && blocks.at(-1)!.start > start) blocks.pop();
    blocks.push({ start, end });
  }

  /** `last` may be the end of the value that contains it, or the beginning of a value. */
  *#values(blocks: readonly Block[], last: string): Generator<string> {
    const previousFrom = this.#from;
    for (const block of blocks) {
      while (this.#from < block.start) yield this.#lines[this.#from++]!;
      yield* this.#within(block, block.start < previousFrom);
      this.#from = block.end + 1;
    }
    const start = this.#open.get(last);
    while (this.#from < (start ?? this.#lines.length)) yield this.#lines[this.#from++]!;
    if (start !== undefined) yield* this.#within({ start, end: this.#lines.length }, true);
    else if (last.length >= UNFINISHED_LENGTH) yield last;
  }

  *#within({ start, end }: Block, isToldAgain: boolean): Generator<string> {
    if (this.#work.left < 0) return;
    const value = this.#lines.slice(start + 1, end).join("\n");
    if (!isToldAgain || spend(this.#work, value.length)) yield value;
  }
}

/** Returns the values in a whole file. */
export const readMaskFile = (content: string): string[] =>
  new MaskFileReader({ left: Number.POSITIVE_INFINITY }).push(content);

/** Removes a byte order mark. Some editors put one into a file whose text then ends up here. */
const plainLine = (line: string): string =>
  line.slice(line.startsWith("\ufeff") ? 1 : 0, line.endsWith("\r") ? -1 : undefined);
