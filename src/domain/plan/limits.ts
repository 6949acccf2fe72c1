import { LIMITS } from "../../protocol/limits.ts";

/** What one pipeline file may be; docs/pipelines.md has these as a table. */
export const FILE_LIMITS = {
  characters: LIMITS.definitionCharacters,
  /** Words, punctuation, line breaks and comments of YAML; a script is one. Aliases are not followed. */
  tokens: 60_000,
  /** Levels of nesting. */
  depth: 32,
  /** Anchors, aliases and tags. */
  marks: 2000,
  /** Values and characters that are read, what an alias stands for counted each time. */
  values: 50_000,
  read: 2 * LIMITS.definitionCharacters,
  /** Expressions in one text; words and signs of all expressions, aliases counted each time. */
  expressions: 1000,
  expressionTokens: 50_000,
  /** Levels of `$( )` and the like in a script around an expression. */
  scriptDepth: 50,
  steps: LIMITS.steps,
  /** Mistakes that are told. */
  mistakes: 200,
} as const;

/** The file is more than will be read: what is beyond its limit, and where. */
export class FileLimitExceeded extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}
