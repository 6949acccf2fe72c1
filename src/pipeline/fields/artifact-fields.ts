import { isScalar, isSeq } from "yaml";
import { artifactPathProblem } from "../../domain/artifact/chosen-paths.ts";
import { PATTERN_LIMITS } from "../../domain/patterns.ts";
import { ArtifactName } from "../../protocol/artifact.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { field, list, mapping } from "../yaml/collection-parsers.ts";
import type { NodeParser, ParsedBy, ScalarText } from "../yaml/node-parser.ts";
import { choice, text, wholeNumber } from "../yaml/scalar-parsers.ts";

/* The artifacts that a job keeps, and those that it downloads from earlier jobs. */

/** Text that a rule accepts. */
const withRule = (problemOf: (text: string) => string | null, atMost: number): NodeParser<ScalarText> => ({
  schema: { type: ["string", "number", "boolean"], minLength: 1, maxLength: atMost },
  parse(node, context) {
    const scalar = text().parse(node, context);
    const problem = scalar ? problemOf(scalar.text) : null;
    if (problem === null) return scalar;
    context.mistake(node, problem);
    return undefined;
  },
});

const nameProblem = (name: string): string | null => {
  if (name.includes("${{")) return "The name of an artifact is plain text: ${{ }} is not evaluated here";
  const { error } = ArtifactName.safeParse(name);
  return error ? `The name of an artifact ${error.issues[0]?.message}` : null;
};
const NAME = withRule(nameProblem, LIMITS.artifactNameCharacters);

/** Returns why files cannot be put into a folder of the checkout; null if they can. */
const folderProblem = (folder: string): string | null => {
  if (folder.includes("${{")) return "A folder is plain text: ${{ }} is not evaluated here";
  if (folder.startsWith("/") || folder.startsWith("~")) return "A folder is relative to the checkout";
  const parts = folder.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return "A folder is inside the checkout: it must not have .. in it";
  if (parts[0]?.toLowerCase() === ".git") return "A folder must not be in .git";
  return /[\\\x00-\x1f\x7f]/.test(folder) ? "A folder must not have a backslash or a control character in it" : null;
};

const PATH = withRule(artifactPathProblem, PATTERN_LIMITS.characters);
const PATH_LIST = list(PATH, { atLeast: 1, atMost: PATTERN_LIMITS.patterns });
/** A path, or a list of them. */
const PATHS: NodeParser<ScalarText[]> = {
  schema: { anyOf: [PATH.schema, PATH_LIST.schema] },
  parse(node, context) {
    const target = context.resolve(node);
    const one = isScalar(target) ? PATH.parse(node, context) : undefined;
    const paths = isScalar(target) ? one && [one] : PATH_LIST.parse(node, context);
    if (paths?.[0]?.text.startsWith("!"))
      context.mistake(paths[0].node, "A path with ! excludes matches of earlier ones: it cannot be the first");
    return paths;
  },
};

const ARTIFACT = mapping(
  {
    name: { ...field(NAME, "Its name, unique in its job."), required: true },
    path: {
      ...field(PATHS, "A file, a folder or a pattern in the checkout, or a list of them. A pattern with `!` excludes."),
      required: true,
    },
    as: field(choice("files", "tar"), "Files one by one (by default), or one tar that keeps links and modes."),
    "keep-days": field(wholeNumber(1, LIMITS.artifactDays), "Days for which it is kept; 30 by default."),
    "if-none": field(choice("fail", "warn", "ignore"), "What to do if no file matches; fail by default."),
    when: field(
      choice("success", "failure", "always"),
      "After which result of the steps it is kept; success by default.",
    ),
  },
  {
    name: "an artifact",
    adviceForKey: (key) => ADVICE.get(key),
    adviceForWord: () => "Write a mapping, for example `{ name: app, path: build/*.ipa }`",
  },
);

const ADVICE = new Map([
  ["paths", "Write `path`, one or a list"],
  ["expire_in", "Write `keep-days`"],
  ["retention-days", "Write `keep-days`"],
  ["if-no-files-found", "Write `if-none`"],
  ["exclude", "Write a path with `!` as the last of `path`"],
  ["reports", "Write `reports: { junit: build/reports/*.xml }` beside `artifacts`"],
]);

const DOWNLOAD = mapping(
  {
    from: {
      ...field(text(), "The job that kept it: one that this job needs, directly or indirectly."),
      required: true,
    },
    artifact: field(NAME, "The name of one artifact; by default all, each in a folder with its name."),
    to: {
      ...field(withRule(folderProblem, LIMITS.artifactPathBytes), "Folder of the checkout to put it in."),
      required: true,
    },
  },
  {
    name: "an item of `downloads`",
    adviceForWord: () => "Write a mapping, for example `{ from: build, artifact: app, to: in }`",
  },
);

const NOT_A_LIST = "Write a list, for example `[{ name: app, path: build/*.ipa }]`";

/** A list of artifacts. A single value gets a message that says how to write a list. */
const ARTIFACT_LIST = list(ARTIFACT, { atLeast: 1, atMost: LIMITS.artifacts });
export const ARTIFACTS: NodeParser<ParsedBy<typeof ARTIFACT>[]> = {
  schema: ARTIFACT_LIST.schema,
  parse(node, context) {
    if (isSeq(context.resolve(node))) return ARTIFACT_LIST.parse(node, context);
    context.mistake(node, NOT_A_LIST);
    return undefined;
  },
};
export const DOWNLOADS = list(DOWNLOAD, { atLeast: 1, atMost: LIMITS.downloads });

export type WrittenArtifact = ParsedBy<typeof ARTIFACT>;
export type WrittenDownload = ParsedBy<typeof DOWNLOAD>;

/** The test reports of a job's tools. */
export const REPORTS = mapping(
  {
    junit: {
      ...field(PATHS, "JUnit reports: a file, a folder or a pattern in the checkout, or a list of them."),
      required: true,
    },
  },
  {
    name: "`reports`",
    adviceForKey: (key) =>
      /^(?:junit[_-]xml|xml|tests?|test[_-]results|path)$/.test(key) ? "Write `junit`" : undefined,
    adviceForWord: () => "Write a mapping, for example `reports: { junit: build/reports/*.xml }`",
  },
);

/** Returns the patterns of the reports; empty if the file has none. */
export const reportPaths = (reports: ParsedBy<typeof REPORTS> | undefined): { junit: string[] } => ({
  junit: (reports?.junit ?? []).map(({ text }) => text),
});
