import { isScalar, isSeq } from "yaml";
import { artifactPathProblem, cachePathProblem } from "../../domain/artifact/chosen-paths.ts";
import { PATTERN_LIMITS } from "../../domain/patterns.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { field, list, mapping } from "../yaml/collection-parsers.ts";
import type { NodeParser, ParsedBy, ScalarText } from "../yaml/node-parser.ts";
import { choice, flag, name, text } from "../yaml/scalar-parsers.ts";

/* The caches that a job restores in its next build. */

const NAME = name(
  /^[A-Za-z0-9._-]{1,100}$/,
  "The name of a cache must be letters, digits, ., _ and -, at most 100 characters",
);

/** One text, or a list of texts, that a rule accepts. */
const oneOrMore = (problemOf: (text: string) => string | null): NodeParser<ScalarText[]> => {
  const one: NodeParser<ScalarText> = {
    schema: { type: ["string", "number", "boolean"], minLength: 1, maxLength: PATTERN_LIMITS.characters },
    parse(node, context) {
      const scalar = text().parse(node, context);
      const problem = scalar ? problemOf(scalar.text) : null;
      if (problem === null) return scalar;
      context.mistake(node, problem);
      return undefined;
    },
  };
  const several = list(one, { atLeast: 1, atMost: PATTERN_LIMITS.patterns });
  return {
    schema: { anyOf: [one.schema, several.schema] },
    parse(node, context) {
      const target = context.resolve(node);
      if (!isScalar(target)) return several.parse(node, context);
      const only = one.parse(node, context);
      return only && [only];
    },
  };
};

const ENTRY = mapping(
  {
    name: { ...field(NAME, "Its name, unique in its job."), required: true },
    path: {
      ...field(
        oneOrMore(cachePathProblem),
        "Files, folders or patterns in the checkout, or below ~/, the HOME of the steps.",
      ),
      required: true,
    },
    files: field(
      oneOrMore(artifactPathProblem),
      "Files of the commit, such as a lock file: when one of them changes, the cache is a new one.",
    ),
    key: field(text(), "Text that is part of the key. May use ${{ }}."),
    fallback: field(
      list(text(), { atLeast: 1, atMost: LIMITS.cacheFallbacks }),
      "Prefixes of `key`, best first: if the key has no entry, the newest one of these is restored. May use ${{ }}.",
    ),
    shared: field(flag, "Whether all combinations of the matrix share one cache; false by default."),
    save: field(
      choice("success", "always", "never"),
      "After which result of the steps it is saved; success by default.",
    ),
    remote: field(flag, "Whether it is uploaded even if it is larger than 1 GiB; false by default."),
  },
  {
    name: "a cache",
    adviceForKey: (key) => ADVICE.get(key),
    adviceForWord: () => "Write a mapping, for example `{ name: npm, files: package-lock.json, path: ~/.npm }`",
  },
);

const ADVICE = new Map([
  ["paths", "Write `path`, one or a list"],
  ["restore-keys", "Write `fallback`"],
  ["fallback_keys", "Write `fallback`"],
  ["policy", "Write `save: never` in a job that only reads it"],
  ["when", "Write `save`"],
]);

const ENTRIES = list(ENTRY, { atLeast: 1, atMost: LIMITS.caches });
export const CACHES: NodeParser<ParsedBy<typeof ENTRY>[]> = {
  schema: ENTRIES.schema,
  parse(node, context) {
    if (isSeq(context.resolve(node))) return ENTRIES.parse(node, context);
    context.mistake(node, "Write a list, for example `[{ name: npm, files: package-lock.json, path: ~/.npm }]`");
    return undefined;
  },
};

export type WrittenCache = ParsedBy<typeof ENTRY>;
