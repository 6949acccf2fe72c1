import { LIMITS } from "../../protocol/limits.ts";
import type { Position } from "../mistake.ts";

/** The limits of one pipeline file. They are also in docs/pipelines.md. */
export const FILE_LIMITS = {
  characters: LIMITS.definitionCharacters,
  /** YAML tokens: words, signs, line breaks and comments. A script is one token. The count does not follow aliases. */
  tokens: 60_000,
  /** Levels of nesting. */
  depth: 32,
  /** Anchors, aliases and tags. */
  marks: 2000,
  /** Values and characters after aliases are resolved. */
  values: 50_000,
  read: 2 * LIMITS.definitionCharacters,
  /** Expressions in one text. `expressionTokens` limits the tokens of all expressions after aliases are resolved. */
  expressions: 1000,
  expressionTokens: 50_000,
  /** Levels of `$( )` and other nested commands around an expression in a script. */
  scriptDepth: 50,
  steps: LIMITS.steps,
  /**
   * Retries of a step. `retryWaitSeconds` limits the seconds before each retry, and `retryExitCodes` the exit codes
   * that it names.
   */
  retryTimes: 10,
  retryWaitSeconds: 3600,
  retryExitCodes: 20,
  /** Retries of a job after its steps failed. */
  retries: 2,
  /** Files that one file includes, directly or indirectly. `includeDepth` limits the depth of inclusion. */
  includes: LIMITS.includes,
  includeDepth: 3,
  /** Inputs of one included file. */
  inputs: 100,
  /** Tools of one job. */
  tools: 50,
  /** Reported mistakes. */
  mistakes: 200,
} as const;

/** The file exceeds a limit at this offset. */
export class FileLimitExceeded extends Error {
  readonly offset: number;
  /** The position of the mistake, if the file may be an included one. */
  readonly position: Position | undefined;
  constructor(message: string, offset: number, position?: Position) {
    super(message);
    this.offset = offset;
    this.position = position;
  }
}
