import { LIMITS } from "../../protocol/limits.ts";
import type { Position } from "../mistake.ts";

/** Limits of one pipeline file; docs/pipelines.md lists them. */
export const FILE_LIMITS = {
  characters: LIMITS.definitionCharacters,
  /** Tokens of YAML: words, signs, line breaks and comments; a script is one. Aliases are not followed. */
  tokens: 60_000,
  /** Levels of nesting. */
  depth: 32,
  /** Anchors, aliases and tags. */
  marks: 2000,
  /** Values and characters after aliases are resolved. */
  values: 50_000,
  read: 2 * LIMITS.definitionCharacters,
  /** Expressions in one text, and tokens of all expressions after aliases are resolved. */
  expressions: 1000,
  expressionTokens: 50_000,
  /** Levels of `$( )` and other nested commands around an expression in a script. */
  scriptDepth: 50,
  steps: LIMITS.steps,
  /** Tries of a step after the first one, seconds before each, and exit codes that it names. */
  retryTimes: 10,
  retryWaitSeconds: 3600,
  retryExitCodes: 20,
  /** Further tries of a job after its steps failed. */
  retries: 2,
  /** Files that one file includes, and those that they include in turn; and how deep. */
  includes: LIMITS.includes,
  includeDepth: 3,
  /** Inputs of one included file. */
  inputs: 100,
  /** Tools of one job. */
  tools: 50,
  /** Mistakes reported. */
  mistakes: 200,
} as const;

/** The file exceeds a limit at this offset. */
export class FileLimitExceeded extends Error {
  readonly offset: number;
  /** Known where the file may be one that another includes. */
  readonly position: Position | undefined;
  constructor(message: string, offset: number, position?: Position) {
    super(message);
    this.offset = offset;
    this.position = position;
  }
}
