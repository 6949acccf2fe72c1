import { isScalar, type Node } from "yaml";
import { firstPatternProblem, type NameKind, PATTERN_LIMITS, patternProblem } from "../../domain/patterns.ts";
import { readCron, timeZoneProblem } from "../../domain/schedule.ts";
import { SUPERSEDE } from "../triggers/triggers.ts";
import { field, list, type MappingOf, mapping, record } from "../yaml/collection-parsers.ts";
import { either, type NodeParser, type ScalarText } from "../yaml/node-parser.ts";
import { choice, flag, KEY, name, text } from "../yaml/scalar-parsers.ts";

/* Keys of other systems below `on`, with their equivalents here. */

const BY_HAND = "The API and the dashboard start a build by hand: leave it out";
const NO_IGNORE = "A pattern with ! only excludes: write '**', then '!' and the pattern";

/** Advice on keys of `on`. */
const ON_KEY_ADVICE = new Map([
  ["pull_request", "Write `pull`"],
  ["merge_request", "Write `pull`"],
  ["merge_requests", "Write `pull`"],
  ["merge_group", "Write `merge-group`"],
  ["pull_request_target", "This does not exist here: a fork's build never gets secrets. Write `pull`"],
  ["branches", "Write it below `push`"],
  ["paths", "Write it below `push` or `pull`"],
  ["tags", "Write `tag: true`, or `tag: { names: [...] }`"],
  ["release", "Write `tag`"],
  ["schedule", "Write `schedule` at the top of the file, beside `on`"],
  ["cron", "Write `schedule` at the top of the file, beside `on`"],
  ["workflow_dispatch", BY_HAND],
  ["repository_dispatch", BY_HAND],
  ["workflow_call", BY_HAND],
  ["web", BY_HAND],
  ["api", BY_HAND],
  ["manual", BY_HAND],
]);

/** Advice on keys of `push`, `tag` and `pull`. */
const EVENT_KEY_ADVICE = new Map([
  ["tags", "Tags have their own key: write `tag: { names: [...] }` below `on`"],
  ["branches-ignore", NO_IGNORE],
  ["tags-ignore", NO_IGNORE],
  ["paths-ignore", NO_IGNORE],
  ["types", "Leave it out: a pull request is built when it is opened, and for each new head, label and base"],
]);

const MOST_SCHEDULES = 20;

/** Text in which `problemOf` finds no problem. */
const withRule = (
  parser: NodeParser<ScalarText>,
  problemOf: (value: string) => string | null,
): NodeParser<ScalarText> => ({
  schema: parser.schema,
  parse(node, context) {
    const scalar = parser.parse(node, context);
    const problem = scalar && problemOf(scalar.text);
    if (!problem) return scalar;
    context.mistake(node, problem);
    return undefined;
  },
});

const patterns = (kind: NameKind): NodeParser<ScalarText[]> => {
  const each = withRule(text(), (pattern) => patternProblem(pattern, kind));
  const all = list(each, { atLeast: 1, atMost: PATTERN_LIMITS.patterns });
  return {
    schema: all.schema,
    parse(node, context) {
      const read = all.parse(node, context);
      const problem = read?.[0] && firstPatternProblem(read[0].text);
      if (problem) context.mistake(read[0]!.node, problem);
      return read;
    },
  };
};

const TRUE: NodeParser<true> = { schema: { const: true }, parse: () => true };

/** The value of an event: `true` for all events of the kind, or a mapping of conditions. */
const event = <Conditions extends { node: Node }>(conditions: NodeParser<Conditions>) =>
  either(TRUE, (node) => isScalar(node) && node.value === true, conditions);

const advice = (name: string, example: string) => ({
  name,
  adviceForKey: (key: string) => EVENT_KEY_ADVICE.get(key),
  adviceForWord: () => `Write true, or conditions such as ${example}; leave the key out for none`,
});

const branches = field(patterns("ref"), "Patterns of branches; every branch by default.");
const paths = field(patterns("path"), "Patterns of files, one of which must have changed.");

const PUSH = event(mapping({ branches, paths }, advice("`push`", "{ branches: [main] }")));
const TAG = event(
  mapping({ names: field(patterns("ref"), "Patterns of tags.") }, advice("`tag`", "{ names: ['v*'] }")),
);
const PULL = event(
  mapping(
    {
      base: field(patterns("ref"), "Patterns of their target branches."),
      paths,
      drafts: field(flag, "Whether drafts are built; true by default."),
      labels: field(list(text(), { atLeast: 1, atMost: 100 }), "Labels, one of which it must have."),
    },
    advice("`pull`", "{ base: [main] }"),
  ),
);

const ON = mapping(
  {
    push: field(PUSH, "Pushes to branches; never tags."),
    tag: field(TAG, "Pushed tags."),
    pull: field(PULL, "Pull requests and merge requests: their newest head."),
    "merge-group": field(choice<true>(true), "Commits that a merge queue tests."),
  },
  {
    name: "`on`",
    adviceForKey: (key) => ON_KEY_ADVICE.get(key),
    adviceForWord: () => "Write a mapping, for example `on: { push: true, pull: true }`",
  },
);

const PLAIN_TEXT = withRule(text(true), (value) =>
  value.includes("${{") ? "This is plain text: ${{ }} is not evaluated here" : null,
);

const SCHEDULE = mapping(
  {
    name: {
      ...field(name(/^[^\x00-\x1F\x7F-\x9F]{1,100}$/, "A name must have 1 to 100 characters in one line"), "Its name."),
      required: true,
    },
    cron: {
      ...field(
        withRule(text(), (line) => {
          const read = readCron(line);
          return "problem" in read ? read.problem : null;
        }),
        "Minute, hour, day of the month, month, day of the week.",
      ),
      required: true,
    },
    "time-zone": field(
      withRule(text(), timeZoneProblem),
      "The time zone of its hours, such as Europe/Berlin; UTC by default.",
    ),
    env: field(record(KEY, PLAIN_TEXT), "Variables of its runs, by name."),
  },
  { name: "a schedule", adviceForKey: (key) => (key === "timezone" ? "Write `time-zone`" : undefined) },
);

/** Keys at the top of a file that trigger builds. */
export const TRIGGER_FIELDS = {
  on: field(ON, "What triggers it: by default, pushes to the default branch and pull requests."),
  supersede: field(choice(...SUPERSEDE), "Which older builds a newer head ends: refs by default, all, or none."),
  schedule: field(list(SCHEDULE, { atMost: MOST_SCHEDULES }), "Times at which it is built."),
};

export type TriggersOfFile = MappingOf<typeof TRIGGER_FIELDS>;
